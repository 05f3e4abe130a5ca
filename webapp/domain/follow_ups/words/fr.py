"""French."""

from webapp.domain.follow_ups.lexicon import Lexicon
from webapp.domain.follow_ups.word_list import WordList

LEXICON = Lexicon(
    non_answers=WordList("""
        rien/non tout va bien, rien/non tout est parfait/bien/bon, rien/non c'est parfait/bien
        rien à redire
        rien/non/nan/aucun/aucune/jamais/personne/bof/nsp/passe/jsp/nspp, n a
        sans avis/opinion/réponse
        je sais pas, je ne sais pas, sais pas, chais pas, j'sais pas, je ne sais plus, je sais plus
        aucune idée, aucun avis, aucun commentaire, pas d'idée/avis/opinion, je n'ai pas d'idée/avis
        j'ai pas d'idée/avis, je n'en sais rien, j'en sais rien, pas de commentaire/commentaires
        pas sûr, pas sûre, je ne suis pas sûr/sûre, je suis pas sûr/sûre
        rien de particulier/spécial
        rien de précis, rien du tout, pas vraiment, pas grand chose, pas trop, non merci, qui sait
        je ne me souviens pas/plus, je me souviens pas/plus, je n'en ai aucune idée
        je n'ai aucune idée
        rien ne me vient, rien à signaler, ras, r a s, sans objet, non applicable, ne sait pas
        aucune raison
        je ne vois pas, je vois pas, difficile à dire, je ne saurais dire, oublié, j'ai oublié
    """),
    flat=WordList("""
        rien/non tout va bien, rien/non tout est parfait/bien/bon, rien/non c'est parfait/bien
        rien à redire
        rien/non/nan/aucun/aucune/jamais/personne/ras, n a, rien du tout, pas vraiment, non merci
        rien à signaler, r a s, sans objet, non applicable, pas grand chose
    """),
    fillers=WordList("""
        désolé/désolée/franchement/honnêtement/euh/ben/bah/hum/hmm/bon/alors/merci/pardon/là
        vraiment
        comme/ça/maintenant/juste/oh/ah/trop/en/fait
    """),
    yes=WordList("""
        oui/ouais/ouaip/si/absolument/certainement/évidemment/toujours/effectivement, bien sûr
        oui oui
        oui bien sûr, oui volontiers/plutôt/souvent, plutôt oui, mais oui, tout à fait
        oui tout à fait, oui absolument/toujours
    """),
    no=WordList("""
        non/nan/jamais, pas du tout, non pas du tout, pas encore, non pas encore, non jamais
        bien sûr que non, mais non, absolument pas, non pas vraiment, pas vraiment, plutôt non
        hélas non
    """),
    stops=WordList("""
        ^ rien de plus, rien de plus $, rien d'autre $, ^ rien d'autre, rien à ajouter
        plus rien à ajouter
        rien d'autre à ajouter/dire, rien de plus à ajouter/dire, plus rien à dire, rien à dire
        c'est tout $, ^ c'est tout, cest tout $, ce sera tout, voilà tout, voilà c'est tout
        ^ stop $
        ^ assez $, ça suffit, arrêtez de demander/poser, arrête de demander/poser, ^ arrêtez
        ^ arrête $
        j'ai fini $, j'ai terminé $, plus de questions, plus de question, déjà répondu/dit/expliqué
        je préfère ne pas, préfère ne pas, préférerais ne pas, plutôt pas $, je préfère pas
        je ne veux pas répondre/dire/parler/en/le/continuer, je veux pas répondre/dire/parler/en/le
        je ne souhaite pas répondre/dire/parler/en/le/continuer/m'exprimer/partager
        pas envie d'en/de répondre/parler/dire, pas envie d'en parler, pas envie de répondre/parler
        ça/cela ne vous/te regarde pas, ça vous/te regarde pas, pas vos/tes affaires, laissez moi
        laisse moi tranquille, foutez moi la paix, question suivante, passons à autre, passons $
        suivante $, ^ suivant $, ^ passer $, trop personnel, c'est personnel $, c'est privé
        sans commentaire, je refuse de
        je ne répondrai pas, je ne réponds pas
    """),
    invitations=WordList(
        "autre chose, à ajouter, ajouter quelque, d'autres remarques/commentaires",
        "avez vous des, as tu des, y a t il des/quelque, nous dire",
    ),
    tender=WordList("""
        mort/morte/morts/mortes/mourir/meurt/mourant/mourante/décès/décédé/décédée/décédés/mourut
        défunt/enterrement/obsèques/funérailles/deuil/coma/réanimation/avortement/parkinson/vih
        étranglé/étranglée/mutile/mutilé/mutilation
        harcèlement/harcelé/harcelée/tué/tuée/tués/meurtre/assassiné/assassinée
        cancer/tumeur/leucémie/métastase/métastases/chimio/chimiothérapie/démence/alzheimer/avc
        infarctus
        dépression/dépressif/dépressive/anorexie/boulimie/overdose/viol/violée/violé/violence
        violences
        agressée/agressé/agression/maltraité/maltraitée/maltraitance/poignardé/torturé/torture
        inceste
        a perdu la vie, nous a quittés
        perdu mon père/mari/fils/frère/enfant/bébé/conjoint/compagnon
        perdu notre/le/un enfant/bébé/fils/père, perdu mon/ma meilleur/meilleure ami/amie
        perdu mes/nos parents/grands, perdu mon grand père, perdu ma grand mère
        perdu notre fille/mère, l'a/l'avons/avons enterré/enterrée, n'est plus là/parmi
        ne sont plus là/parmi, veux plus vivre, plus de vivre, s'est pendu/pendue/tué/tuée
        me scarifie/coupe, ôté la vie, me harcèle, peur de mon mari/père
        perdu ma mère/femme/fille/soeur/compagne, fausse couche, gravement malade/blessé/blessée
        maladie grave/incurable, phase terminale, soins palliatifs/intensifs, crise cardiaque
        en finir, envie de mourir, me tuer, me faire du mal, me couper, me scarifier, mettre fin à
        scarification/scarifications/automutilation, mis fin à ses jours, plus envie de vivre
        me bat/battait/frappe/frappait, m'a frappé/frappée/battu/battue, femme battue
        abus sexuel/sexuels
        menace/menaces de mort, fin de vie
    """),
    tender_stems=("suicid",),
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
        ^ à quelle heure/fréquence/date, ^ en quelle année, ^ quel âge/jour/mois
        ^ quelle heure/année/date
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
