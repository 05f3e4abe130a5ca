"""French."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList, WordParts

_KIN = (
    "mari/femme/père/papa/mère/maman/parents/fils/fille/enfant/bébé/frère/soeur/jumeau/jumelle"
    "/papi/papy/pépé/mamie/mémé/oncle/tante/tonton/cousin/cousine/neveu/nièce/ami/amie/pote/conjoint"
    "/compagnon/compagne/copain/copine/amis/enfants/chien/chat"
)
_THING = (
    "imprimante/téléphone/portable/batterie/ordinateur/ordi/pc/tablette/serveur/écran/appli"
    "/application/site/réseau/connexion/wifi/recherche/barre/bouton/clavier/souris/chargeur"
    "/machine/appareil/box/lien"
)
_HARMLESS_CAUSE = (
    "rire/faim/soif/fatigue/peur/froid/chaud/trouille/honte/ennui/envie/rires/sommeil/impatience"
)
_ASKED = "$/ça/cela/ici/plus/davantage/là/de/d/à"

LEXICON = Lexicon(
    non_answers=WordList("""
        rien/non tout va bien, rien/non tout est parfait/bien/bon, rien/non c'est parfait/bien
        rien à redire
        rien/non/nan/aucun/aucune/jamais/personne/bof/nsp/passe/jsp/nspp, n a
        sans avis/opinion/réponse
        je sais pas, je ne sais pas, sais pas, chais pas, j'sais pas, je ne sais plus, je sais plus
        pas que je sache, pas de réponse, j'ai/n'ai pas de réponse, je n'ai pas de réponse
        aucune idée/opinion, aucun avis, j'en/n'en ai pas/aucun/aucune, je n'en ai pas/aucun/aucune
        aucun commentaire, pas d'idée/avis/opinion, je n'ai pas d'idée/avis
        j'ai pas d'idée/avis, je n'en sais rien, j'en sais rien, pas de commentaire/commentaires
        pas sûr, pas sûre, je ne suis pas sûr/sûre, je suis pas sûr/sûre
        rien de particulier/spécial
        rien de précis, rien du tout, pas vraiment, pas grand chose, pas trop, non merci, qui sait
        je ne me souviens/rappelle pas/plus, je me rappelle pas/plus, je me souviens pas/plus
        je n'en ai aucune idée
        je n'ai aucune idée
        rien ne me vient, rien à signaler, ras, r a s, sans objet, non applicable, ne sait pas
        aucune raison
        je ne vois pas, je vois pas, difficile à dire, je ne saurais dire, je ne saurais pas dire
        je saurais pas dire
        je n'y ai jamais réfléchi/pensé, j'y ai jamais réfléchi/pensé, jamais réfléchi/pensé
        oublié, j'ai oublié
    """),
    flat=WordList("""
        rien/non tout va bien, rien/non tout est parfait/bien/bon, rien/non c'est parfait/bien
        rien à redire
        rien/non/nan/aucun/aucune/jamais/personne/ras, n a, rien du tout, pas vraiment, non merci
        rien à signaler, r a s, sans objet, non applicable, pas grand chose
    """),
    fillers=WordList("""
        désolé/désolée/franchement/honnêtement/euh/ben/bah/hum/hmm/bon/alors/merci/pardon/là
        dessus/vraiment/pfff/pff
        comme/ça/maintenant/juste/oh/ah/trop/en/fait
    """),
    yes=WordList("""
        oui/ouais/ouaip/si/absolument/certainement/évidemment/toujours/effectivement, bien sûr
        oui oui, oui je/j'ai/nous/on …, oui j'ai pu, oui je l'ai
        oui bien sûr, oui volontiers/plutôt/souvent, plutôt oui, mais oui, tout à fait
        oui tout à fait, oui absolument/toujours
    """),
    no=WordList("""
        non/nan/jamais, pas du tout, non pas du tout, pas encore, non pas encore, non jamais
        bien sûr que non, mais non, absolument pas, non pas vraiment, pas vraiment, plutôt non
        hélas non, non hélas/malheureusement, malheureusement non/pas, non je ne … pas, non je … pas
    """),
    stops=WordList(f"""
        ^ rien de plus, rien de plus $, rien d'autre $, ^ rien d'autre, rien à ajouter
        plus rien à ajouter
        rien d'autre à ajouter/dire, rien de plus à ajouter/dire, plus rien à dire $
        rien à dire $/de/là/d
        c'est tout $, ^ c'est tout ce/pour/merci, cest tout $, ce sera tout, voilà tout
        voilà c'est tout
        ^ stop $
        ^ assez $, ça suffit $/maintenant/comme, arrêtez de demander/poser
        arrête de demander/poser, ^ arrêtez $/avec/ça/svp/là
        ^ arrête $
        j'ai fini $, j'ai terminé $, plus de questions, plus de question
        déjà répondu/dit/expliqué $/plus/ça/cela/dans/avant/ci
        je préfère ne pas, préfère ne pas, préférerais ne pas, plutôt pas $, je préfère pas
        ne veux/souhaite pas répondre/dire/parler/continuer/m'exprimer/partager {_ASKED}
        je veux pas répondre/dire/parler {_ASKED}, veux/souhaite pas en parler
        veux/souhaite pas le dire
        ça me regarde $, puis/peux je sauter/passer, je peux sauter/passer
        pas d'autres commentaires
        pas envie d'en/de répondre/parler/dire, pas envie d'en parler, pas envie de répondre/parler
        ça/cela ne vous/te regarde pas, ça vous/te regarde pas, pas vos/tes affaires, laissez moi
        laisse moi tranquille, foutez moi la paix, question suivante, passons à autre
        passer/passe à autre, passons $, je m'arrête là/ici, je passe $/mon, reste entre nous
        le garder pour moi, garde ça/le pour moi, ^ arrêtons, assez dit/parlé
        pas à vous le/répondre
        suivante $, ^ suivant $, ^ passer $, trop personnel, c'est personnel $, c'est privé
        sans commentaire, je refuse de
        je ne répondrai pas, je ne réponds pas
    """),
    invitations=WordList(
        "autre chose, à ajouter, ajouter quelque, d'autres remarques/commentaires",
        "avez vous des, as tu des, y a t il des/quelque, nous dire",
    ),
    tender=WordList(f"""
        mort/morte/morts/mortes/mourir/meurt/mourant/mourante/décès/mourut
        défunt/obsèques/funérailles/deuil/réanimation/avortement/veuf/veuve/orphelin
        orpheline/meurtre/tuée/tués, s'est noyé/noyée, dans/du/le coma, {_KIN} a rendu l'âme
        a perdu la vie, a/ont/été/était/fait/être/est tué/tuée/tués, nous a quittés/quitté/quittée
        nous ont quittés, n'est plus parmi
        elle/il/{_KIN} n'est plus là
        ne sont plus là/parmi, n'est plus de ce, mourais/mourrais/mourait, longue maladie
        gifle/gifles/giflé/giflée, y laisser/laissé la vie
        oblige/obligeait/forcé/forcée à coucher
        fausse couche, extra utérine, mort né
        perdu {_KIN}, perdu … {_KIN}, perdu … … {_KIN}
        perdu mes/nos grands, perdu mes deux parents, l'a/l'ai/avons enterré/enterrée
        l'ai/l'avons perdu/perdue, enterré mon/ma/notre/nos, adieu à mon/ma/notre
        {_KIN} est parti/partie $/ce/cette/au/trop/il/l
        veux/veut/voulais plus vivre, plus de/envie vivre, plus envie de vivre
        plus la force de vivre
        s'est pendu/pendue/tué/tuée/jeté/jetée/noyé, me scarifie/coupe/mutile/tuer/scarifier/couper
        perte de … {_KIN}, perdre … {_KIN}, cimetière/cercueil/cendres
        s'est éteint/éteinte, {_KIN} a disparu, la guerre, reçu/donne/donnait des coups
        coup/coups de couteau/poing
        j'en/n'en peux plus $, ôté/ôter la vie, en finir, envie de mourir/disparaître
        disparaître pour toujours/jamais
        me faire du mal, mettre/mis fin à mes/ses/ces/leurs jours, mettre/mis fin à tout
        fin à ma/sa vie, mieux sans moi
        ne plus être là/ici, ne plus me réveiller, n'être jamais né/née
        si je n'existais/n'étais pas/plus, si j'étais pas/plus/mort, si j'étais plus là
        couteau sous/sur la/ma, maladie de charcot/huntington, plus de raison/raisons de vivre/me
        raison de vivre, à quoi bon vivre/continuer, m'enferme/enfermait dans
        m'a forcée/plaquée/violentée
        était/est/devenu/devenait/devient violent/violente, homme/mari/père/conjoint violent
        m'a touché/caressé les/le seins/fesses/cuisses/sexe, de m'embrasser
        jamais/pas réveillé/réveillée, goût à la/rien
        avalé des cachets/médicaments
        pris des cachets, fait une tentative
        mutile/mutilé/mutilation, ouvert les veines, été bombardé/bombardée
        menacé/menace de brûler/frapper
        chimio/démence/avc/infarctus
        vih/sida/septicémie/dialyse, greffe de/du coeur/foie/rein/moelle, sclérose en, la sla
        j'ai/a sla
        diagnostiqué/diagnostiquée/diagnostiqués, le/mon/son diagnostic est
        maladie grave/incurable/dégénérative, phase terminale, soins palliatifs/intensifs
        il reste … semaines/mois/jours à, crise cardiaque, gravement malade/blessé/blessée
        fin de vie, mois/semaines/jours à vivre
        médecin/médecins/docteur lui/me/nous donne/donnent/donnait/donné
        dépression/dépressif/dépressive/déprimé/déprimée/tca
        viol/violée/violé/violeur/violence/violences/inceste/abusée/agressée/agressé/agression
        abusé de moi/elle/lui, maltraité/maltraitée/maltraitance/torturé/torture
        attouchement/attouchements/fusillade/attentat
        harcèlement/harcelé/harcelée, me harcèle/menace/étrangle/viole/terrorise
        nous bat/battait/frappait/frappe/tapait/cognait, m'a cassé le/la/une/mon
        main/mains sous/dans ma/mon, main/mains sur ma/mes/la/les cuisse/cuisses/fesses/seins
        me bat/battait/frappe/frappait/tape/tapait/cogne/gifle
        m'a frappé/frappée/battu/battue/giflé
        m'a tapé/tapée/cogné/cognée/touchée/menacé/menacée/violé/violée, femme battue
        abus sexuel/sexuels, sexuel/sexuelle/sexuelles, menace/menaces/menacé/menacée de mort
        peur de mon mari/père/ex/copain/compagnon/conjoint, peur de lui, peur pour ma vie
    """),
    tender_parts=WordParts("""
        tabass-
        suicid- décéd- endeuil- enterre- poignard- étrangl- assassin- automutil- scarifi- kidnapp-
        égorg- tumeur- leucém- chimiothér- radiothér- sclérose- schizophr- anorex- boulim- amput-
        anévris- pallia-
    """),
    idioms=WordList(f"""
        {_THING} mort/morte/meurt, {_THING} est/était/sont mort/morte/morts
        mort/morte/morts/mortes/mourir/meurs/meurt d/de {_HARMLESS_CAUSE}
        vie ou de mort, vie et de mort
        c'est mort $/pour/de, plutôt mourir, failli/faillis faire un infarctus
        morte/mort intérieurement, barre de recherche est morte
        enterré/enterrée dans la/le/les menu/menus/page/newsletter/mail
        overdose de/d café/caféine/sucre/info/réunions, piles sont mortes, piles sont … mortes
        point/points/temps/angle/angles/poids/code/lien/liens mort/morts, est une gifle
        enterré le projet, lettre/nature/saison/eau morte
        projet mort né, la mort dans l'âme, ça/qui/me/cela tue, tue le/la/les/l/mon/ma/toute/tout
        deadline/délai/chaleur/stress/prix/boulot/attente nous/m a/ont tué/tués/tuée
        prix/tarif/tarifs/pub est violent, m'a frappé/frappée par/c'est/de/dans
        ça/ce/qui m'a frappé/frappée/touchée, me tape tout/le/la, guerre des prix
        me coupe la/l/dans/du/en/le/quand
        me harcèle de/avec/par, en finir avec/vite/rapidement, tentative de connexion/paiement
        est parti/partie au travail/bureau/boulot/ski/lit
    """),
    hedges=WordList("""
        peut être, probablement/éventuellement/possible/sûrement, ça/cela dépend, dépend du/de/des
        je suppose/imagine, je pense/crois que oui/non, plus ou moins, difficile à dire
        pas sûr/sûre
        sans doute, selon les/le/la
    """),
    qualities=WordList("""
        bon/bonne/bons/bonnes/mauvais/mauvaise/mauvaises/bien/mal/correct/correcte/sympa/super
        génial
        géniale/mieux/pire/facile/faciles/difficile/difficiles/dur/dure/lent/lente/lents/lentes
        rapide
        rapides/cher/chère/chers/chères/agaçant/agaçante/pénible/frustrant/frustrante/compliqué
        compliquée/compliqués/confus/confuse/intéressant/intéressante/ennuyeux/ennuyeuse/utile
        inutile
        pratique/fastidieux/fastidieuse/lourd/lourde/moyen/moyenne
    """),
    vague=WordList("""
        parfois/souvent/quelquefois/généralement/habituellement/assez/truc/trucs/chose/choses/machin
        plusieurs/certains/certaines/divers/diverses/etc, un peu, beaucoup de, pas mal
        quelque/quelques
        d'habitude, plus ou moins, de temps en temps, et cetera
    """),
    negations=WordList("pas/ne/n/ni/jamais/rien/peu/sans/aucun/aucune"),
    reasons=WordList("""
        parce/car/puisque/puisqu/donc/raison/raisons/cause/afin/sinon/grâce/pourquoi/motif/faute
        à cause de/du/des/d, en raison, étant donné, du fait, c'est pour ça/cela
        pour que/qu/pouvoir
        vu que/qu, comme ça/cela, de sorte, si bien, ce qui fait, m'a poussé/poussée, nous a poussés
    """),
    examples=WordList("""
        par exemple, p ex, comme quand, notamment/hier/récemment/autrefois, avant hier, une fois
        un jour
        la dernière fois, l'autre jour, la semaine dernière/passée, le mois dernier/passé
        l'an/l'année dernier/dernière/passé/passée, cette semaine/année, ce matin/mois
        il y a, quand j'ai/mon/ma/mes/nous/notre/le/la/les/je, lorsque/lorsqu
        lundi/mardi/mercredi/jeudi/vendredi/samedi/dimanche/janvier/février/avril/juin/juillet/août
        septembre/octobre/novembre/décembre, en mars/mai
    """),
    contrasts=WordList(
        "mais/cependant/toutefois/pourtant/sauf/bien que, par contre, en revanche, d'un autre côté"
    ),
    joiners=WordList("et/aussi/puis/plus"),
    markers=WordList(
        "ensuite/également/deuxièmement, de plus, en plus, en outre, par ailleurs, autre chose"
    ),
    facts=WordList("""
        ^ combien/quand/où/qui, ^ depuis/jusqu'à quand/combien, ^ avec/de/par/à qui, ^ d'où
        ^ à quelle heure/fréquence/date, ^ en quelle année
        ^ quel âge/jour/mois/navigateur/appareil/modèle/forfait/pays
        ^ quelle heure/année/date/version/marque/taille/langue/ville
        ^ quel/quelle est votre/ton/ta/le/la nom/prénom/rôle/poste/métier/fonction/profession
        ^ quel/quelle est votre/ton/ta/le/la entreprise
        ^ quel/quelle est votre/ton/ta/le/la email/e-mail/âge/ville/pays/téléphone/budget/date
        ^ quel/quelle est votre/ton/ta/le/la service
        ^ quel/quelle est l'adresse/âge/entreprise, ^ quel/quelle est votre/ton adresse
        ^ dans quelle/quel ville/pays/entreprise/service, ^ pendant combien, ^ comment vous appelez
        ^ comment t'appelles, ^ comment s'appelle
    """),
    asks_more=WordList("""
        pourquoi/décrivez/décrire/décris/expliquez/expliquer/explique/racontez/raconter/raconte
        détaillez
        dites nous, dis nous, parlez nous, que s'est il passé, qu'est il arrivé, s'est passé
        pour quelle raison, pour quelles raisons, ^ quand vous/tu/on/je/nous, ^ où vous/tu
    """),
    interrogatives=WordList("""
        ^ que/qu/qui/quand/où/comment/quel/quelle/quels/quelles/lequel/laquelle/lesquels/lesquelles
        ^ à/avec/chez/dans/de/depuis/en/par/pour/sur/vers qui/quand/où/quel/quelle/quels/quelles
        ^ d'où, quoi/combien/pourquoi, comment $
    """),
)
