"""Spanish."""

from webapp.domain.follow_ups.thread import Technique

BY_TECHNIQUE = {
    Technique.REOPEN: (
        "No pasa nada. ¿Hay algo, aunque sea pequeño, que le venga a la mente?",
        "Está bien. ¿Qué es lo primero que le viene a la mente, aunque parezca poca cosa?",
        "No hay problema. ¿Qué le diría a un colega que le preguntara lo mismo?",
    ),
    Technique.ELABORATE: (
        "¿Podría contarnos un poco más?",
        "¿Qué más puede decirnos sobre eso?",
        "¿Podría explicarlo con algo más de detalle?",
        "¿Nos contaría algo más sobre eso?",
    ),
    Technique.SPECIFY: (
        "¿Cómo es eso en la práctica?",
        "¿Podría concretarlo un poco más?",
        "¿En qué está pensando exactamente?",
    ),
    Technique.DEPENDS: (
        "¿De qué depende?",
        "¿Qué haría que fuera de una manera o de otra?",
        "¿En qué casos es así y en cuáles no?",
    ),
    Technique.WHY: (
        "¿Cuál es la razón principal?",
        "¿Qué hay detrás de eso, en su caso?",
        "¿Por qué razón, diría usted?",
        "¿A qué se debe?",
    ),
    Technique.EXAMPLE: (
        "¿Podría describir una ocasión en que ocurrió?",
        "¿Qué ejemplo podría darnos?",
        "¿Podría contarnos una situación de ese tipo?",
    ),
    Technique.IMPACT: (
        "¿Qué pasó a raíz de eso?",
        "¿Qué cambió eso para usted?",
        "¿Qué supuso eso para usted, al final?",
    ),
    Technique.ALTERNATIVES: (
        "¿Qué otras cosas consideró o probó?",
        "¿Qué otras opciones había?",
        "¿Qué habría hecho si no?",
    ),
    Technique.CONTRAST: (
        "¿Qué inclina la balanza hacia un lado o hacia el otro?",
        "¿Cómo valora un lado frente al otro?",
        "¿Cuándo pesa más un lado y cuándo el otro?",
    ),
    Technique.CHOOSE_ONE: (
        "Ha mencionado varias cosas. ¿Cuál es la que más importa, y por qué?",
        "De todo lo que ha nombrado, ¿qué es lo que más pesa para usted, y por qué?",
        "Si tuviera que quedarse con una sola de estas cosas, ¿cuál sería, y por qué?",
    ),
}
QUOTING = (
    "Ha escrito «{word}». ¿Cómo es eso en la práctica?",
    "¿Qué significa «{word}» aquí, para usted?",
    "Ha escrito «{word}». ¿En qué se nota?",
)
