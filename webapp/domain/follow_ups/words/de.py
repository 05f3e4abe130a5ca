"""German."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList

LEXICON = Lexicon(
    non_answers=WordList("""
        nichts/nein/nee/keine alles gut/bestens/super/prima/ok/okay, nichts/nein es ist alles gut
        nichts/nix/nein/nee/nö/ne/keine/keiner/keins/kA/kp/niemand/nie/niemals/egal/passe/danke
        weiß/weiss nich, ich weiß/weiss nich, weiß/weiss ich nicht mehr, weiß/weiss ich nich
        hatte ich noch nie/nicht, das weiß/weiss ich nicht mehr, vielen dank
        n a, k a, k p, keine ahnung/idee/angabe/antwort/meinung/angaben, weiß nicht, weiss nicht
        ich weiß/weiss nicht, ich weiß/weiss es nicht, weiß/weiss ich nicht
        das weiß/weiss ich nicht, weiß ich leider/auch nicht, leider keine ahnung/idee
        nicht sicher, bin nicht sicher, ich bin nicht sicher, ich bin mir nicht sicher
        bin mir nicht sicher, kein kommentar, nichts besonderes/bestimmtes/spezielles/konkretes
        eigentlich nichts/nicht, nicht wirklich, nein danke, gar nichts, überhaupt nichts
        ich habe keine ahnung, hab keine ahnung, habe keine ahnung, mir fällt nichts ein
        fällt mir nichts ein, da fällt mir nichts ein, kann ich nicht sagen
        das kann ich nicht sagen
        kann mich nicht erinnern, ich kann mich nicht erinnern, erinnere mich nicht
        weiß/weiss nicht mehr
        ich erinnere mich nicht, vergessen, wer weiß, trifft nicht zu, entfällt, schwer zu sagen
        kein besonderer grund, kein grund, ich weiß/weiss nicht mehr, nichts dergleichen
    """),
    flat=WordList("""
        nichts/nein/nee/keine alles gut/bestens/super/prima/ok/okay, nichts/nein es ist alles gut
        nichts/nix/nein/nee/nö/ne/keine/keiner/keins/niemand/nie/niemals, n a, gar nichts
        nicht wirklich, eigentlich nichts/nicht, überhaupt nichts, nein danke, trifft nicht zu
        hatte ich noch nie/nicht, danke, vielen dank
    """),
    fillers=WordList("""
        sorry/leider/ehrlich/gesagt/also/naja/na/ja/tja/äh/ähm/hm/hmm/mm/so/nur/danke/bitte/gerade
        jetzt
        momentan/spontan/da/dazu/entschuldigung/noch/im/moment/ach/oh
    """),
    yes=WordList("""
        ja/jep/jo/jawohl/jap/yep/klar/natürlich/definitiv/sicher/genau/absolut/immer
        ja natürlich/klar/gern/gerne/sehr/meistens/eigentlich/sicher/bitte, eher/meistens ja
        auf jeden fall, ja immer/genau/täglich, ja das tue ich, ja bin/habe ich, aber ja
    """),
    no=WordList("""
        nein/nee/nö/ne/nie/niemals/nicht, noch nicht, nein noch nicht, nein nie/nicht
        auf keinen fall
        gar nicht, überhaupt nicht, nein gar/überhaupt/leider nicht, nicht wirklich, eher nicht/nein
        leider nein/nicht
    """),
    stops=WordList("""
        ^ nicht mehr $, mehr nicht $, nichts mehr $, ^ nichts weiter, nichts weiter $
        nichts mehr/weiter zu sagen/ergänzen, nichts hinzuzufügen, nichts mehr hinzuzufügen
        nichts weiter hinzuzufügen, das war's/wars/ist's/ists/wär's, das war/ist alles
        das wäre alles
        das war es $, das ist es $, bin/ich fertig $, ^ fertig $, ^ schluss, schluss jetzt
        ^ stopp/stop $
        hören sie auf $, hör/hört auf $, hören sie auf zu fragen/damit, hören sie auf mit
        hör/hört auf zu fragen, hör/hört auf damit/mit, keine fragen mehr, keine weiteren fragen
        ^ genug $
        es reicht
        das reicht $, bereits/schon gesagt/beantwortet/geschrieben/erwähnt/geantwortet
        lieber nicht, möchte ich nicht sagen/beantworten/teilen/angeben, möchte nicht antworten
        möchte nicht darüber/weiter/mehr, möchte das nicht, möchte dazu nichts
        möchte ich nichts/dazu, will nicht antworten
        will nicht darüber/mehr/weiter, will das nicht sagen, will ich nicht sagen/beantworten
        will dazu nichts, möchte darüber nicht, will darüber nicht, mag nicht darüber
        geht sie/dich/euch/niemanden nichts an, geht sie/dich/euch nix an, lassen sie mich in
        lass mich in, lasst mich in, nächste frage, ^ weiter $, ^ nächste $, dazu nicht äußern
        nicht dazu äußern, möchte ich mich nicht, nicht darüber sprechen/reden
        möchte ich nicht sprechen/reden, weiter zur nächsten, keine angabe, zu persönlich
        ist privat, privatsache, ich sage nichts, sage ich nicht, das sage ich nicht, bitte weiter $
        ich beantworte das nicht, das beantworte ich nicht
    """),
    invitations=WordList("""
        gibt es irgendwelche/etwas/noch/fragen/allergien/unverträglichkeiten, irgendwelche
        haben sie fragen/noch/allergien, hast du fragen/noch/allergien, noch sagen/mitteilen
        noch etwas, sonst noch, noch was, noch hinzufügen, hinzufügen, ergänzen, loswerden
        weitere anmerkungen/kommentare
    """),
    tender=WordList("""
        meinen/unseren/seinen/ihren vater/sohn/bruder/mann/opa/freund/onkel verloren/beerdigt
        meinen/unseren/seinen/ihren … vater/sohn/bruder/mann/opa/freund/onkel verloren/beerdigt
        meinen/unseren/seinen/ihren vater/sohn/bruder/mann/opa/freund/onkel … verloren/beerdigt
        meinen/unseren/seinen/ihren vater/sohn/bruder/mann/opa/freund/onkel … … verloren/beerdigt
        meine/unsere/seine/ihre mutter/frau/tochter/schwester/oma/freundin/tante/eltern verloren
        meine/unsere/seine/ihre … mutter/frau/tochter/schwester/oma/freundin/tante/eltern verloren
        meine/unsere/seine/ihre mutter/frau/tochter/schwester/oma/freundin/tante/eltern … verloren
        meine/unsere/seine/ihre mutter/frau/tochter/schwester/oma/freundin/tante/eltern … … verloren
        mein/unser/das/ihr baby/kind/kindchen/ungeborenes verloren
        mein/unser/das/ihr baby/kind … verloren, mein/unser/das/ihr baby/kind … … verloren
        mein/unser/das/ihr baby/kind … … … verloren, mein/unser/das/ihr baby/kind … … … … verloren
        an corona verloren, beerdigen/beerdigten
        von uns gegangen, nicht mehr am/unter/bei leben/uns, lebt/leben nicht mehr, abtreibung
        monate/wochen/tage zu leben, sternenkind/sternenkinder/unfalltod/tödlich/erhängt/erschossen
        ertrunken/verunglückt/erwürgt/gewürgt/begrapscht/überfallen/verprügelt/zusammengeschlagen
        sexuell/sexuelle/sexueller/sexuellen
        koma/trauma/traumatisiert/kriegstrauma/dement/essstörung/essgestört
        blutkrebs/hirnkrebs/magenkrebs/leberkrebs/hodenkrebs/prostatakrebs/gebärmutterhalskrebs
        bauchspeicheldrüsenkrebs/eierstockkrebs/krebskrank/chemo/parkinson, multiple sklerose
        schlägt/schlagen mich, mich schlagen, mich bedroht, mich … … … bedroht, ritze/ritzte mich
        belästigt/belästigte/belästigen mich, mich belästigt, mich … … angefasst, verletze mich
        wurde/wurden angegriffen, wurde … … … angegriffen, umzubringen, zu töten
        angst vor meinem mann/vater/freund/partner/ex, nicht mehr da sein, nicht mehr hier sein
        das leben genommen, ich will/kann nicht mehr $
        tod/tot/tote/toten/starb/starben/stirbt/sterben/gestorben/verstorben/verstarb/verstorbene
        todesfall/beerdigung/beerdigt/begräbnis/trauerfall/getötet/ermordet/mord/umgebracht
        umbringen
        krebs/tumor/leukämie/metastasen/demenz/alzheimer/schlaganfall/herzinfarkt/hospiz
        intensivstation
        todkrank/sterbenskrank/schwerkrank/unheilbar/palliativ/hirntumor/fehlgeburt/totgeburt
        depression
        depressionen/depressiv/magersucht/bulimie/überdosis/gewalt/misshandelt/misshandelte
        missbraucht
        missbrauch/vergewaltigung/vergewaltigt/erstochen/gefoltert/folter/ritzen/geritzt/witwe
        witwer
        schwer/lebensbedrohlich/unheilbar/ernsthaft erkrankt/krank/verletzt
        selbst verletze/verletzt
        mich schlägt/schlug, hat mich geschlagen, wurde geschlagen, meinen mann verloren
        das leben nehmen
        meine frau/mutter/tochter/schwester verloren, meinen vater/sohn/bruder verloren
        leben nehmen
        mein kind verloren, mir das leben, nicht mehr leben, will nicht mehr leben, mir etwas antun
        sich etwas angetan, häusliche gewalt, sexuell belästigt/genötigt/missbraucht
    """),
    tender_stems=(
        *("suizid", "selbstmord", "selbstverletz", "krebserkrank", "krebsdiagnos", "chemotherap"),
        *("todes", "brustkrebs", "lungenkrebs", "darmkrebs", "hautkrebs", "trauer"),
    ),
    hedges=WordList("""
        vielleicht/wahrscheinlich/vermutlich/eventuell/möglicherweise/womöglich
        kommt drauf/darauf an
        es kommt drauf/darauf an, hängt davon/von, ich glaube schon/ja, schwer zu sagen
        nicht sicher, mehr oder weniger, könnte sein, kann sein, ich nehme an, je nachdem/nach
    """),
    qualities=WordList("""
        gut/schlecht/okay/ok/nett/toll/super
        besser/schlimmer/einfach/leicht/schwer/schwierig/langsam/schnell/teuer/billig
        günstig/nervig/frustrierend/kompliziert/verwirrend/umständlich
        interessant
        langweilig/nützlich/nutzlos/praktisch/unpraktisch/unübersichtlich/stressig/anstrengend
        mühsam
    """),
    vague=WordList("""
        manchmal/oft/meist/meistens/gelegentlich/ziemlich/etwas/ding/dinge/sachen/sache/zeug
        irgendwas/gute/guter/gutes/guten/schlechte/schlechter/schlechtes/langsame/teure/nervige
        komplizierte/irgendwie/mehrere/verschiedene/diverse/einige/viele/usw/etc, ein bisschen
        ein wenig
        ab und zu, hin und wieder, und so weiter, ganz gut/okay/ok/nett
    """),
    negations=WordList("""
        nicht/nie/kein/keine/keinen/weder/kaum/wenig/nichts/niemals
    """),
    reasons=WordList("""
        weil/da/denn/wegen/deshalb/deswegen/darum/daher/dadurch/damit/aufgrund/grund/gründe/gründen
        nämlich/ursache/sodass/somit/folglich/dank/sonst/ansonsten/weshalb, so dass, auf grund
        liegt/lag daran, führte dazu, dazu geführt, um zu, dafür sorgen, mangels
    """),
    examples=WordList("""
        zum beispiel, z b, zb, bzw, beispielsweise/etwa/gestern/vorgestern/neulich/kürzlich/letztens
        einmal/damals/heute, letzte/letzten/letztes/letzter …, eines tages, vor kurzem
        als ich/wir/mein
        als meine/unser/unsere/der/die/das, wenn ich/wir, diese woche, dieses jahr, diesen monat
        montag/dienstag/mittwoch/donnerstag/freitag/samstag/sonnabend/sonntag/januar/februar/märz
        april
        juni/juli/august/september/oktober/november/dezember, im mai
    """),
    contrasts=WordList("aber/jedoch/obwohl/allerdings/außer/dagegen/trotzdem, andererseits"),
    joiners=WordList("und/auch/außerdem/sowie/zudem"),
    markers=WordList("""
        außerdem/zudem/zweitens/drittens/ferner/darüberhinaus, darüber hinaus, des weiteren
        dazu kommt
        hinzu kommt
    """),
    facts=WordList("""
        ^ wie viele/viel/alt/lange/oft/weit/bald/häufig/hoch/groß, ^ wieviel/wieviele
        ^ wann/wo/wohin/woher/wer/wen/wem/wessen, ^ welche sprache/farbe/abteilung/firma/nummer
        ^ welcher tag/monat, ^ welches datum/jahr/land
        ^ seit/bis/ab wann, ^ von/bei/mit wem, ^ um wie viel, ^ um wieviel
        ^ in welchem land/jahr/monat
        ^ in welcher stadt/abteilung/firma/branche
        ^ was/wie ist/lautet ihr/ihre/dein/deine/der/die/das name/rolle/position/beruf/titel/firma
        ^ was/wie ist/lautet ihr/ihre/dein/deine/der/die/das alter
        ^ was/wie ist/lautet ihre/deine/die berufsbezeichnung/abteilung/funktion/stelle
        ^ was/wie ist/lautet ihr/ihre/dein/deine/der/die/das e-mail/telefonnummer/budget/datum
        ^ was/wie ist/lautet ihr/ihre/dein/deine/der/die/das adresse
        ^ an welchem/welcher, ^ wie heißen/heißt/heisst, ^ wie ist ihr/dein name
    """),
    asks_more=WordList("""
        warum/wieso/weshalb/beschreiben/beschreibe/beschreib/erklären/erkläre/erklär/erzählen
        erzähle
        erzähl/schildern/schildere/erläutern/erläutere, wie kam/kommt es, was passierte/geschah
        was ist passiert/geschehen, ist passiert, aus welchem grund, aus welchen gründen
        ^ wo wir/sie
    """),
    interrogatives=WordList("""
        ^ was/wer/wen/wem/wessen/wie/wann/wo/wohin/woher/welche/welcher/welches/welchen/welchem
        ^ wieviel/wieviele/wofür/womit/wodurch/woran/worauf/worin/wovon/wozu/worüber/inwiefern
        ^ inwieweit
        ^ an/auf/aus/bei/bis/durch/für/gegen/in/mit/nach/seit/über/um/von/vor/zu welche/welchem
        ^ an/auf/aus/bei/bis/durch/für/gegen/in/mit/nach/seit/über/um/von/vor/zu welchen
        ^ an/auf/aus/bei/bis/durch/für/gegen/in/mit/nach/seit/über/um/von/vor/zu welcher/wem/wen
        ^ an/auf/aus/bei/bis/durch/für/gegen/in/mit/nach/seit/über/um/von/vor/zu wann
        ^ um/mit/zu/in/von wie, warum/wieso/weshalb
    """),
)
