"""French; no-break spaces before question marks and inside quotation marks."""

from webapp.domain.follow_ups.thread import Technique

BY_TECHNIQUE = {
    Technique.REOPEN: (
        "Ce n’est pas grave. Y a-t-il quelque chose, même petit, qui vous vient à l’esprit ?",
        "Pas de souci. Quelle est la première chose qui vous vient à l’esprit ?",
        "Aucun problème. Que diriez-vous à un collègue qui vous poserait la question ?",
    ),
    Technique.ELABORATE: (
        "Pourriez-vous nous en dire un peu plus ?",
        "Que pouvez-vous nous dire d’autre à ce sujet ?",
        "Pourriez-vous préciser un peu votre réponse ?",
        "Nous en diriez-vous un peu plus ?",
    ),
    Technique.SPECIFY: (
        "Comment cela se passe-t-il en pratique ?",
        "Pourriez-vous être un peu plus précis ?",
        "À quoi pensez-vous exactement ?",
    ),
    Technique.DEPENDS: (
        "De quoi cela dépend-il ?",
        "Qu’est-ce qui ferait pencher d’un côté ou de l’autre ?",
        "Dans quels cas est-ce ainsi, et dans quels cas non ?",
    ),
    Technique.WHY: (
        "Quelle en est la raison principale ?",
        "Qu’y a-t-il derrière cela, pour vous ?",
        "Pour quelle raison, selon vous ?",
        "À quoi cela tient-il ?",
    ),
    Technique.EXAMPLE: (
        "Pourriez-vous décrire une fois où cela s’est produit ?",
        "Quel exemple pourriez-vous donner ?",
        "Pourriez-vous nous raconter une situation de ce genre ?",
    ),
    Technique.IMPACT: (
        "Que s’est-il passé ensuite ?",
        "Qu’est-ce que cela a changé pour vous ?",
        "Qu’est-ce que cela a représenté pour vous, au bout du compte ?",
    ),
    Technique.ALTERNATIVES: (
        "Qu’avez-vous envisagé ou essayé d’autre ?",
        "Quelles autres possibilités y avait-il ?",
        "Qu’auriez-vous fait autrement ?",
    ),
    Technique.CONTRAST: (
        "Qu’est-ce qui fait pencher la balance d’un côté ou de l’autre ?",
        "Comment mettez-vous les deux côtés en balance ?",
        "Quand un côté compte-t-il plus que l’autre, et inversement ?",
    ),
    Technique.CHOOSE_ONE: (
        "Vous avez cité plusieurs choses. Laquelle compte le plus, et pourquoi ?",
        "De tout ce que vous avez cité, qu’est-ce qui pèse le plus pour vous, et pourquoi ?",
        "S’il fallait n’en retenir qu’une, laquelle serait-ce, et pourquoi ?",
    ),
}
QUOTING = (
    "Vous avez écrit « {word} ». Comment cela se passe-t-il en pratique ?",
    "Que veut dire « {word} » ici, pour vous ?",
    "Vous avez écrit « {word} ». À quoi le voyez-vous ?",
)
