"""Threads, replies and harmless questions for the tests of the guard."""

import json
from typing import Any, NamedTuple

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.guard import Check, Unusable, checked
from webapp.follow_ups.rules import Exchange, Technique, Thread


def make_thread(question: str, answer: str, **changed: Any) -> Thread:
    fields: dict[str, Any] = {
        "mode": FollowUpMode.SMART,
        "exchanges": (Exchange(question, answer),),
        "questions": (question,),
    }
    return Thread(**fields | changed)


def reply(question: str, technique: str = Technique.WHY, action: str = "ask") -> str:
    fields = {"action": action, "prepared": 0, "technique": technique, "question": question}
    return json.dumps(fields)


class Interview(NamedTuple):
    """A form with a realistic private context, an answer, and what may be asked about it."""

    context: str
    questions: tuple[str, ...]
    answer: str
    harmless: tuple[str, ...]

    @property
    def thread(self) -> Thread:
        return make_thread(self.questions[0], self.answer, questions=self.questions)


ENGLISH = Interview(
    context=(
        "We lost 14% of our customers in the spring, mostly to Nordwind Cloud. Martin Okafor says "
        "that the price increase of 12 dollars is the cause; support thinks it is the export. "
        "Find out what people were missing before they left. Ask about a concrete situation. "
        "Customers on the team plan matter most. Do not mention the planned rebate."
    ),
    questions=("What made you switch to another tool?", "How many people work in your team?"),
    answer="It was slow and the support never wrote back. I was fed up with it after a while.",
    harmless=(
        "Could you say a bit more about that?",
        "What did “slow” look like in a normal week?",
        "Can you describe one time when nobody wrote back?",
        "What happened as a result?",
        "What else did you try before that?",
        "Of these two, which one mattered more to you, and why?",
        "Thanks. What was the moment when you had enough?",
        "How did that change the way you worked?",
        "Who else was affected by it?",
        "What would a good answer from support have looked like?",
    ),
)
GERMAN = Interview(
    context=(
        "Wir haben im Frühjahr 14 % der Kunden an Nordwind Cloud verloren. Frau Okafor vermutet "
        "die Preiserhöhung um 12 Euro als Grund, der Vertrieb den Export. Fragen Sie nach einem "
        "konkreten Beispiel und nach der Situation vor der Entscheidung. Den Rabatt nicht erwähnen."
    ),
    questions=("Warum haben Sie das Werkzeug gewechselt?", "Wie groß ist Ihr Team?"),
    answer="Es war langsam und der Support hat nie geantwortet. Irgendwann hatte ich genug davon.",
    harmless=(
        "Können Sie dazu noch etwas mehr erzählen?",
        "Was heißt für Sie „langsam“ in einer normalen Woche?",
        "Fällt Ihnen ein Beispiel dafür ein?",
        "In welcher Situation haben Sie das zuletzt erlebt?",
        "Was war der wichtigste Grund dafür?",
        "Welche Folgen hatte das für Ihre Arbeit?",
        "Was haben Sie vor der Entscheidung noch versucht?",
        "Wie hätte eine gute Antwort vom Support ausgesehen?",
    ),
)
SPANISH = Interview(
    context=(
        "Perdimos el 14 % de los clientes en primavera, sobre todo por Nordwind Cloud. Martín "
        "Okafor cree que la causa es la subida de 12 euros; soporte cree que es la exportación. "
        "Pregunta por una situación concreta y por lo que buscaban. No mencionar el descuento."
    ),
    questions=("¿Por qué cambió de herramienta?", "¿Cuántas personas hay en su equipo?"),
    answer="Era lenta y el soporte nunca respondía. Al final me cansé de esperar.",
    harmless=(
        "¿Podría contar un poco más sobre eso?",
        "¿Qué significa “lenta” en un día normal?",
        "¿Recuerda una ocasión en que le pasó?",
        "¿Qué consecuencias tuvo para su trabajo?",
        "¿Cuál fue la razón principal?",
        "Gracias. ¿Qué otras opciones consideró?",
        "¿Qué habría sido una buena respuesta del soporte?",
    ),
)
FRENCH = Interview(
    context=(
        "Nous avons perdu 14 % des clients au printemps, surtout à cause de Nordwind Cloud. Martin "
        "Okafor pense que la hausse de 12 euros en est la cause ; le support pense à l'export. "
        "Demander une situation concrète et ce qui manquait. Ne pas parler de la remise prévue."
    ),
    questions=("Pourquoi avez-vous changé d’outil ?", "Combien de personnes y a-t-il chez vous ?"),
    answer="C'était lent et le support ne répondait jamais. À la fin j'en ai eu assez d'attendre.",
    harmless=(
        "Pourriez-vous en dire un peu plus ?",
        "Que veut dire « lent » dans une semaine normale ?",
        "Pouvez-vous raconter une fois où c’est arrivé ?",
        "Quelles ont été les conséquences pour votre travail ?",
        "Quelle était la raison principale ?",
        "Qu’avez-vous essayé d’autre avant cela ?",
        "Qu'est-ce qui vous a fait dire que c'en était assez ?",
    ),
)
PORTUGUESE = Interview(
    context=(
        "Perdemos 14% dos clientes no outono, principalmente para a Nordwind Cloud. Martim Okafor "
        "acha que a causa é o aumento de 12 reais; o suporte acha que é a exportação. Pergunte por "
        "uma situação concreta e pelo que faltava. Não mencione o desconto planejado."
    ),
    questions=("Por que você trocou de ferramenta?", "Quantas pessoas há na sua equipe?"),
    answer="Era lenta e o suporte nunca respondia. No fim cansei de esperar.",
    harmless=(
        "Você pode contar um pouco mais sobre isso?",
        "O que “lenta” quer dizer em um dia normal?",
        "Você se lembra de uma vez em que isso aconteceu?",
        "Que consequências isso teve para o seu trabalho?",
        "Qual foi o principal motivo?",
        "O que mais você tentou antes?",
        "Como teria sido uma boa resposta do suporte?",
    ),
)
ARABIC = Interview(
    context=(
        "خسرنا 14% من العملاء في الربيع لصالح نوردويند كلاود. يعتقد السيد أوكافور أن السبب هو رفع "
        "الأسعار بمقدار 12 دولارا، ويعتقد فريق الدعم أنه التصدير. اسأل عن موقف محدد. لا تذكر الخصم."
    ),
    questions=("لماذا انتقلت إلى أداة أخرى؟", "كم شخصا يعمل في فريقك؟"),
    answer="كانت بطيئة ولم يرد الدعم أبدا. في النهاية مللت من الانتظار.",
    harmless=(
        "هل يمكنك أن تخبرنا أكثر عن ذلك؟",
        "ماذا تعني «بطيئة» في يوم عادي؟",
        "هل تتذكر مرة حدث فيها ذلك؟",
        "ما تأثير ذلك على عملك؟",
        "ما الذي جربته قبل ذلك؟",
        "شكرا. متى شعرت أنك لا تريد الاستمرار؟",
    ),
)
JAPANESE = Interview(
    context="春に顧客の14%を北風クラウドに奪われた。大川部長は値上げが原因だと考えている。割引には触れないこと。",
    questions=("なぜ別のツールに変えたのですか？", "チームは何人ですか？"),
    answer="とにかく遅くて、サポートから返事が来ませんでした。",
    harmless=(
        "そのときのことを詳しく教えていただけますか？",
        "「遅くて」とは、たとえばどんな場面でしたか？",
    ),
)
GREEK = Interview(
    context="Χάσαμε το 14% των πελατών από τη Βόρεια Νέφη. Ο Μάρτιν Οκαφόρ λέει ότι φταίει η τιμή.",
    questions=("Γιατί αλλάξατε εργαλείο;",),
    answer="Ήταν αργό και η υποστήριξη δεν απαντούσε ποτέ.",
    harmless=("Μπορείτε να πείτε λίγα περισσότερα;", "Τι σημαίνει «αργό» σε μια κανονική μέρα;"),
)
RUSSIAN = Interview(
    context="Весной мы потеряли 14% клиентов. Мартин Окафор винит цену. Спросите о случае.",
    questions=("Почему вы сменили инструмент?",),
    answer="Он был медленный, и поддержка никогда не отвечала.",
    harmless=("Расскажете немного подробнее?", "Что значит «медленный» в обычный день?"),
)
HINDI = Interview(
    context="वसंत में हमने 14% ग्राहक खो दिए। मार्टिन ओकाफोर मानते हैं कि कीमत कारण है। छूट का ज़िक्र न करें।",
    questions=("आपने दूसरा टूल क्यों चुना?",),
    answer="वह बहुत धीमा था और सहायता से जवाब नहीं आता था।",
    harmless=("क्या आप इसके बारे में थोड़ा और बता सकते हैं?", "“धीमा” से आपका क्या मतलब है?"),
)
INTERVIEWS = {
    "en": ENGLISH,
    "de": GERMAN,
    "es": SPANISH,
    "fr": FRENCH,
    "pt_BR": PORTUGUESE,
    "ar": ARABIC,
    "ja": JAPANESE,
    "el": GREEK,
    "ru": RUSSIAN,
    "hi": HINDI,
}


def outcome(
    question: str, thread: Thread = ENGLISH.thread, context: str = "", title: str = ""
) -> Check | None:
    return outcome_of(reply(question), thread, context, title)


def outcome_of(
    text: str, thread: Thread = ENGLISH.thread, context: str = "", title: str = ""
) -> Check | None:
    try:
        checked(text, thread, context=context, title=title)
    except Unusable as unusable:
        return unusable.check
    return None
