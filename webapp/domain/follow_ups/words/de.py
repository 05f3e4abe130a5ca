"""German."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList, WordParts

_HE = "vater/papa/sohn/bruder/mann/opa/großvater/freund/onkel/cousin/kumpel/partner/verlobten"
_SHE = (
    "mutter/mama/mutti/frau/tochter/schwester/oma/großmutter/freundin/tante/cousine/partnerin"
    "/eltern/großeltern/katze"
)
_KIN = f"{_HE}/{_SHE}/kind/baby"
_THING = (
    "drucker/akku/handy/telefon/laptop/rechner/computer/pc/tablet/server/router/leitung/verbindung"
    "/bildschirm/app/internet/netz/wlan/link/links/gerät/maus/tastatur/seite/website/suche/suchleiste/taste"
    "/batterie/batterien"
    "/fernbedienung/projekt/thema"
)

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
        fällt mir nichts/nix ein, da fällt mir nichts/nix ein, mir fällt nix ein
        kann ich nicht sagen
        keine meinung dazu/zu, da/dazu hab/habe ich keine meinung, da hab/habe ich keine meinung zu
        keine antwort darauf/dazu, hab/habe keine/keinen antwort, nicht dass ich wüsste
        keinen plan/schimmer/peil/dunst, kein plan/schimmer, hab/habe ich nicht/keine/keinen/keins
        überfragt, bin ich/da überfragt, da bin ich überfragt
        noch nie/nicht drüber/darüber nachgedacht, nie drüber/darüber nachgedacht
        darüber habe ich noch/nie nachgedacht, darüber habe ich noch nie/nicht nachgedacht
        das kann ich nicht sagen
        kann mich nicht erinnern, ich kann mich nicht erinnern, erinnere mich nicht
        weiß/weiss nicht mehr, weiß/weiss nicht wirklich, nichts zu sagen
        weiß/weiss nicht so genau/recht, weiß/weiss ich nicht so genau/recht
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
        momentan/spontan/da/dazu/entschuldigung/noch/im/moment/ach/oh/puh/boah/hier/tut/mir/leid
    """),
    yes=WordList("""
        ja/jep/jo/jawohl/jap/yep/klar/natürlich/definitiv/sicher/genau/absolut/immer
        ja natürlich/klar/gern/gerne/sehr/meistens/eigentlich/sicher/bitte, eher/meistens ja
        ja … ich/wir, auf jeden fall, ja immer/genau/täglich, ja das tue ich, ja bin/habe ich
        aber ja
    """),
    no=WordList("""
        nein/nee/nö/ne/nie/niemals/nicht, noch nicht, nein noch nicht, nein nie/nicht
        auf keinen fall
        gar nicht, überhaupt nicht, nein gar/überhaupt/leider nicht, nicht wirklich, eher nicht/nein
        leider nein/nicht, nein … ich/wir nicht
    """),
    stops=WordList("""
        ^ nicht mehr $, mehr nicht $, nichts mehr $, ^ nichts weiter, nichts weiter $
        nichts mehr/weiter zu sagen/ergänzen, nichts hinzuzufügen, nichts mehr hinzuzufügen
        nichts weiter hinzuzufügen
        das war's/wars/ist's/ists/wär's $/von/für/dann/jetzt/schon/auch/soweit/erstmal
        das war/ist alles $/von/für/was/dazu/soweit
        das wäre alles
        das war es $, das ist es $, bin/ich fertig $, ^ fertig $, ^ schluss, schluss jetzt
        ^ stopp/stop $
        hören sie auf $, hör/hört auf $, hören sie auf zu fragen/damit, hören sie auf mit
        hör/hört auf zu fragen, hör/hört auf damit/mit, keine fragen mehr, keine weiteren fragen
        ^ genug $
        es reicht $/jetzt/mir, ^ reicht jetzt/mir $, keine lust mehr $/zu/auf
        mehr hab/habe ich nicht
        mehr weiß ich nicht, muss ich ihnen/dir/euch nicht, sag/sage ich nix, bleibt unter uns
        für mich behalten, behalte ich für/lieber, nichts mehr davon
        genug gesagt/gefragt $
        das reicht $
        bereits/schon gesagt/beantwortet/geschrieben/erwähnt/geantwortet
        lieber nicht, möchte ich nicht sagen/beantworten/teilen/angeben, möchte nicht antworten
        möchte nicht darüber, möchte nicht mehr/weiter $/antworten/reden/sprechen/darüber/dazu
        meine sache $, keine weiteren kommentare, überspringen $, beantworte ich nicht
        möchte das nicht, möchte dazu nichts
        möchte ich nichts/dazu, will nicht antworten
        will nicht darüber, will nicht mehr/weiter $/antworten/reden/sprechen/darüber/dazu
        will das nicht sagen, will ich nicht sagen/beantworten
        will dazu nichts, möchte darüber nicht, will darüber nicht, mag nicht darüber
        geht sie/dich/euch/niemanden nichts an, geht sie/dich/euch nix an, lassen sie mich in
        lass mich in, lasst mich in, nächste frage, ^ weiter $, ^ nächste $, dazu nicht äußern
        nicht dazu äußern, möchte ich mich nicht, nicht darüber sprechen/reden
        möchte ich nicht sprechen/reden, weiter zur nächsten, keine angabe, zu persönlich/privat
        ist privat, privatsache, ich sage nichts, sage ich nicht, das sage ich nicht, bitte weiter $
        ich beantworte das nicht, das beantworte ich nicht
    """),
    invitations=WordList("""
        gibt es irgendwelche/etwas/noch/fragen/allergien/unverträglichkeiten, irgendwelche
        haben sie fragen/noch/allergien, hast du fragen/noch/allergien, noch sagen/mitteilen
        noch etwas, sonst noch, noch was, noch hinzufügen, hinzufügen, ergänzen, loswerden
        weitere anmerkungen/kommentare
    """),
    tender=WordList(f"""
        tod/tote/toten/starb/starben/stirbt/verstarb
        begräbnis/beisetzung, ist/war/wäre/sind/waren/wird/lag/schon/jetzt/plötzlich/{_KIN} tot
        tot ist/war/sind/waren/wäre/aufgefunden/gefunden/geboren/umgefallen/zur/zusammengebrochen
        meinen/unseren/seinen/ihren/den {_HE} verloren, meinen/unseren/seinen/ihren … {_HE} verloren
        meinen/unseren/seinen/ihren {_HE} … verloren, meinen/unseren/seinen/ihren {_HE} … … verloren
        meine/unsere/seine/ihre {_SHE} verloren, meine/unsere/seine/ihre … {_SHE} verloren
        meine/unsere/seine/ihre {_SHE} … verloren, meine/unsere/seine/ihre {_SHE} … … verloren
        mein/unser/das/ihr baby/kind/kindchen/ungeborenes verloren
        mein/unser/das baby/kind … verloren
        mein/unser/das baby/kind … … verloren, mein/unser/das baby/kind … … … verloren
        mein/unser/das baby/kind … … … … verloren, haben ihn/sie verloren, haben ihn/sie … verloren
        haben ihn/sie … … verloren, an corona/covid verloren
        {_HE}/{_SHE} hat noch … wochen/monate/tage, bei … unfall verloren, freunde verloren
        wozu soll ich noch/so, wozu noch leben, sperrt mich ein, mich festgehalten, mich eingesperrt
        langer/lange/kurzer/schwerer krankheit, von uns gegangen, für immer gegangen/eingeschlafen
        friedlich/sanft eingeschlafen
        {_KIN} ist … eingeschlafen, {_KIN} ist eingeschlafen/gegangen, {_KIN} ist … gegangen
        {_KIN} ist nicht mehr, {_KIN} nicht mehr da, {_KIN} … nicht mehr bei, nicht mehr bei uns $
        verlust meines/unseres vaters/mannes/sohnes/bruders/opas/freundes/kindes/babys
        verlust meiner/unserer {_SHE}, {_KIN} zu verlieren
        friedhof/sarg/urne, asche verstreut, {_KIN} hat sich aufgehängt
        {_HE} hat sich … … … aufgehängt, nicht mehr am/unter/bei leben/uns, lebt/leben nicht mehr
        abschied von … {_HE}/{_SHE}
        getötet/mord/umbringen/umzubringen
        abgestochen/niedergestochen/erschlagen/tödlich/ertrunken/überfahren/unfalltod
        sternenkind/sternenkinder/abtreibung/koma/witwe/witwer/verwitwet/waise
        zu töten, das leben genommen/nehmen, mir/sich das leben, leben nehmen/beenden
        mir etwas antun, sich etwas angetan, mir was antun, nicht mehr da/hier sein
        nicht mehr leben
        will/wollte/möchte/mag nicht mehr leben/aufwachen, will/kann/mag nicht mehr $
        für immer verschwinden, immer einschlafen, ohne mich wären/wäre/besser, besser ohne mich
        wäre/wären alle besser dran, wenn es mich nicht/nimmer gäbe, wenn es mich nicht mehr gäbe
        wenn ich weg/tot wäre, wenn ich nicht mehr da/wäre
        nie geboren, lebensmüde, grund mehr aufzustehen/weiterzumachen/weiterzuleben
        kein/keinen sinn mehr im
        allem/dem ein ende, alles beenden, kein/keinen ausweg mehr, keine kraft mehr $/zu
        von der brücke/dach gesprungen, vor den zug
        ritze/ritzte/verletze/schneide mich, ritzen/geritzt/aufgeschnitten, pulsadern
        selbst verletze/verletzt, tabletten geschluckt, ist/war/wird/sind/völlig/schwer dement
        hospiz/intensivstation
        chemo/bestrahlung/dialyse
        blutvergiftung/sepsis, multiple/multipler sklerose, als $, an als
        an als erkrankt, diagnostiziert/diagnostizierten, meine/seine/ihre diagnose
        todkrank/schwerkrank/unheilbar/lebenserhaltend/querschnittsgelähmt
        monate/wochen/tage zu leben, ärzte/arzt geben/gaben/gibt/gab ihm/ihr/mir/uns
        schwer/lebensbedrohlich/ernsthaft erkrankt/krank/verletzt
        depression/depressionen/depressiv/magersucht/essstörung/essgestört/überdosis
        trauma/traumatisiert/kriegstrauma/nervenzusammenbruch
        gewalt/folter/gewürgt/würgt/würgte/überfallen
        prügelt/verdroschen/zusammengeschlagen/gelähmt/entführt/bombardierung/überfall
        schlägt/schlug/schlagen/bedroht/bedrohte/verfolgt/stalkt/tritt/verprügelt mich
        schlägt/schlug/schlagen/bedroht meine/uns
        mich schlägt/schlug/schlagen/bedroht/verfolgt/vergewaltigt, mich … … … bedroht
        hat mich geschlagen/bedroht/gewürgt/gestoßen/geschubst/getreten/angefasst
        wurde/wurden geschlagen/angegriffen
        mich … … angefasst, wurde … … … angegriffen, bringt mich um $, droht mir/mich
        sexuell/sexuelle/sexueller/sexuellen, belästigt/belästigte/belästigen mich
        mich belästigt, messer an den/die/der
        messer angegriffen/bedroht/verletzt, mir das/die/den … gebrochen
        unter den/die/meinen/meine rock/bluse/kleid
        mir an den/die/meinen/meine po/hintern/brust/busen/beine, nicht mehr erleben/aufgewacht
        angst vor meinem/meiner mann/vater/freund/partner/ex/stiefvater
        im/vor/seit dem krieg, vor dem krieg, wegen des krieges, angst vor ihm
        angst um mein/unser leben, im krieg, wurde/wurden bombardiert
        mich … gestoßen/geschubst/getreten
    """),
    tender_parts=WordParts("""
        -krebs- morddroh- mordversuch- eileiterschwanger- -tumor metastas- leukäm- lymphom-
        karzinom- chemother- -sklerose demenz- schizophren- amputier- palliativ- schlaganf-
        herzinfarkt- hirnblut- fehlgeb- totgeb- suizid-
        selbstmord- selbstverletz- todes- trauer- sterbe- gestorb- verstorb- beerdig- bestatt-
        ermord- erstoch- erschoss- erwürg- erhäng- verunglück- totgefahr- totgeschl- umgebracht-
        vergewaltig- missbrauch- misshand- verprügel- begrapsch- gefolter- gewaltt-
    """),
    idioms=WordList(f"""
        {_THING} tot/gestorben, {_THING} ist/war … … tot, {_THING} ist/war … tot/gestorben
        {_THING} ist/war/sind tot/gestorben
        tote/toten/toter link/links/winkel/punkt/leitung/hose/zeit/zeiten/taste
        tot gelaufen, tote bag/bags
        sterbe/sterben/stirbt/gestorben/starb vor, zum sterben langsam/schön/langweilig
        krebshilfe, projekt beerdigt, schlagen uns mit/durch/um, innerlich gestorben
        lieber sterbe/sterben
        fast einen herzinfarkt, überdosis kaffee/koffein/zucker
        das leben gerettet/leichter/erleichtert/schwer/schwerer/einfacher
        deadline/termin/termine/hitze/stress/verkehr/schicht/arbeit hat mich/uns umgebracht
        deadline/termin/termine/hitze/stress/verkehr/schicht/arbeit hat mich/uns fast umgebracht
        höhere/höherer/mit/aller gewalt, tödlich langweilig/genervt, verfolgt mich die werbung
    """),
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
        ^ welchen/welches/welche browser/tarif/handy/gerät/betriebssystem/version/marke/größe/schule
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
