"""Portuguese, as in Brazil."""

from webapp.domain.follow_ups.thread import Technique

BY_TECHNIQUE = {
    Technique.REOPEN: (
        "Tudo bem. Tem alguma coisa, mesmo pequena, que vem à sua mente?",
        "Sem problema. Qual é a primeira coisa que vem à sua mente, mesmo que pareça pouca?",
        "Não tem problema. O que você diria a um colega que fizesse essa pergunta?",
    ),
    Technique.ELABORATE: (
        "Você poderia falar um pouco mais sobre isso?",
        "O que mais você pode nos contar sobre isso?",
        "Você poderia explicar com um pouco mais de detalhe?",
        "Pode contar um pouco mais sobre isso?",
    ),
    Technique.SPECIFY: (
        "Como é isso na prática?",
        "Você poderia ser um pouco mais específico sobre isso?",
        "Em que exatamente você está pensando?",
    ),
    Technique.DEPENDS: (
        "Do que isso depende?",
        "O que faria pender para um lado ou para o outro?",
        "Em quais casos é assim, e em quais não é?",
    ),
    Technique.WHY: (
        "Qual é o principal motivo disso?",
        "O que está por trás disso, para você?",
        "Por que razão, na sua opinião?",
        "O que levou a isso?",
    ),
    Technique.EXAMPLE: (
        "Você poderia descrever uma vez em que isso aconteceu?",
        "Que exemplo você daria?",
        "Você poderia nos contar uma situação desse tipo?",
    ),
    Technique.IMPACT: (
        "O que aconteceu depois disso?",
        "O que isso mudou para você?",
        "O que isso significou para você, no fim das contas?",
    ),
    Technique.ALTERNATIVES: (
        "O que mais você considerou ou tentou?",
        "Que outros caminhos havia?",
        "O que você teria feito se não fosse assim?",
    ),
    Technique.CONTRAST: (
        "O que faz a balança pender para um lado ou para o outro?",
        "Como você compara um lado com o outro?",
        "Quando um lado pesa mais, e quando pesa o outro?",
    ),
    Technique.CHOOSE_ONE: (
        "Você mencionou várias coisas. Qual é a mais importante, e por quê?",
        "De tudo o que você citou, o que pesa mais para você, e por quê?",
        "Se tivesse que ficar com uma só dessas coisas, qual seria, e por quê?",
    ),
}
QUOTING = (
    "Você escreveu “{word}”. Como é isso na prática?",
    "O que “{word}” quer dizer aqui, para você?",
    "Você escreveu “{word}”. Como isso aparece no dia a dia?",
)
