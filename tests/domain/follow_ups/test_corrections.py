"""Where the first rules asked too much, too little, or pressed somebody."""

import pytest

from webapp.domain.follow_ups.languages import language_of, language_of_form
from webapp.domain.follow_ups.rules import decide, ending
from webapp.domain.follow_ups.tender import is_tender
from webapp.domain.follow_ups.thread import Decision, Exchange, Reason, Technique, Thread
from webapp.domain.shared.vocabulary import FollowUpMode

SWITCH = "What made you switch?"
SMART, DEEP, NONE = FollowUpMode.SMART, FollowUpMode.DEEP_DIVE, FollowUpMode.NONE
PLAIN = "I like the colors and the layout of the page very much"


def decided(
    question: str, answer: str, mode: FollowUpMode = SMART, depth: int = 0, language: str = ""
) -> Decision:
    return decide(
        Thread(mode, (Exchange(question, answer),), (question,), depth, language=language)
    )


def test_without_a_mode_nothing_is_asked() -> None:
    assert decided(SWITCH, PLAIN, NONE).technique is None


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you use it daily?", "No."),
        ("Do you use it daily?", "Nope, never"),
        ("We moved offices in May. Did it help you?", "yes!"),
        ("¿Utiliza usted la aplicación todos los días?", "Sí"),
        ("¿Utiliza usted la aplicación todos los días?", "no"),
        ("Nutzen Sie die Anwendung jeden Tag?", "Nein"),
        ("Utilisez-vous l’application tous les jours ?", "Non"),
        ("Est-ce que vous êtes content du service ?", "oui"),
        ("Você usa o aplicativo todos os dias?", "não"),
        ("هل تستخدم التطبيق كل يوم؟", "لا"),
    ],
)
def test_just_yes_or_no_is_an_answer_to_a_question_for_it(question: str, answer: str) -> None:
    decision = decided(question, answer)

    assert decision[:2] == (Reason.YES_NO, Technique.WHY)


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("What would you change?", "No"),
        ("¿Qué cambiaría usted del servicio?", "no"),
        ("Was würden Sie an dem Dienst ändern?", "nein"),
        ("Que changeriez-vous dans ce service ?", "non"),
        ("Na sua opinião, o que você mudaria?", "não"),
        ("ما الذي ستغيره في الخدمة؟", "لا"),
        ("What would you change?", "Nothing, all good!"),
        ("Was würden Sie an dem Dienst ändern?", "Nichts, alles gut"),
        ("Que changeriez-vous dans ce service ?", "Rien, tout va bien."),
    ],
)
def test_no_to_another_question_is_a_non_answer(question: str, answer: str) -> None:
    decision = decided(question, answer)

    assert decision[:2] == (Reason.NON_ANSWER, None)


@pytest.mark.parametrize(
    "answer",
    [
        "There was no more room in the old office for the team and all of its many samples",
        "No more spreadsheets!",
        "I want to stop asking my colleagues for help every single time the export breaks again",
    ],
)
def test_words_to_stop_do_not_always_refuse(answer: str) -> None:
    assert decided(SWITCH, answer).reason is not Reason.REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        *("No more.", "no more questions please", "Please stop", "I'm done", "That's it, thanks!"),
        *("nothing else to add", "I’d prefer not to", "leave me alone", "None of your business"),
        *("Eso es todo", "No tengo nada más que añadir", "Prefiero no decirlo", "Ya lo he dicho"),
        *("Das war's", "Mehr nicht", "Das geht dich nichts an", "Dazu möchte ich nichts sagen"),
        *("C’est tout", "Rien à ajouter", "Je ne veux pas en parler", "Question suivante"),
        *("É só isso", "Nada mais a acrescentar", "Prefiro não dizer", "Não é da sua conta"),
        *("هذا كل شيء", "ليس لدي ما أضيفه", "لا أريد الإجابة", "أفضّل عدم الحديث عن ذلك"),
    ],
)
def test_refusals_are_known_in_six_languages(answer: str) -> None:
    assert decided(SWITCH, answer, DEEP).reason is Reason.REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        *("idk", "n/a", "I dont know, sorry", "no idea tbh", "Not really.", "don't remember"),
        *("No lo sé", "ni idea", "no me acuerdo", "nada en particular"),
        *("Keine Ahnung", "weiß nicht", "Weiss ich leider nicht", "mir fällt nichts ein"),
        *("je ne sais pas", "aucune idée", "J’sais pas", "rien de particulier"),
        *("não sei", "nao sei", "sei lá", "nada em especial"),
        *("لا أعرف", "لا ادري", "ليس لدي فكرة", "ما بعرف"),
    ],
)
def test_non_answers_are_known_in_six_languages(answer: str) -> None:
    assert decided(SWITCH, answer, DEEP)[:2] == (Reason.NON_ANSWER, Technique.REOPEN)


@pytest.mark.parametrize(
    "more",
    [
        *("and why?", "Please describe it.", "Please explain.", "Tell us more.", "How come?"),
        "And what happened then?",
    ],
)
def test_a_fact_is_not_all_that_is_asked_for(more: str) -> None:
    alone = decided("When did you leave the team?", "In the spring")
    with_more = decided(f"When did you leave the team? {more}", "In the spring")

    assert (alone.reason, with_more.reason) == (Reason.FACT, Reason.SHORT)


@pytest.mark.parametrize("answer", ["", "   ", "...", "?!", "👍👍", "\u200b", "— –"])
def test_no_letter_and_no_digit_is_no_answer(answer: str) -> None:
    assert decided(SWITCH, answer, DEEP) == Decision(Reason.EMPTY)


@pytest.mark.parametrize(
    ("first", "second", "reason"),
    [
        ("The price", "Too high", Reason.THIN_TWICE),
        ("idk", "The price I guess", Reason.THIN_TWICE),
        ("The price", "I do not know", Reason.THIN_TWICE),
        (PLAIN, "The price", Reason.SHORT),
    ],
)
def test_two_thin_answers_in_a_row_end_a_thread(first: str, second: str, reason: Reason) -> None:
    asked = "What is behind that, for you?"
    exchanges = (Exchange(SWITCH, first), Exchange(asked, second, Technique.WHY))

    decision = decide(Thread(DEEP, exchanges, (SWITCH, asked), 1, frozenset({Technique.WHY})))

    assert decision.reason is reason


@pytest.mark.parametrize(
    "answer",
    [
        *("My father died in March", "I wanted to kill myself", "He was raped", "terminally ill"),
        *("Mi madre falleció en marzo", "Tengo cáncer", "Pensé en el suicidio"),
        *("Mein Vater ist gestorben", "Ich habe Krebs", "Selbstmordgedanken"),
        *("Mon père est mort", "J’ai un cancer", "J’ai été violée"),
        *("Meu pai morreu", "Estou com câncer", "pensei em me matar"),
        *("مات أبي", "لدي سرطان", "فكرت في الانتحار"),
        "x " * 9000 + "my mother died",
    ],
)
def test_tender_answers_are_not_probed(answer: str) -> None:
    assert is_tender(answer)
    assert decided(SWITCH, answer, DEEP) == Decision(Reason.TENDER)


@pytest.mark.parametrize("answer", [PLAIN, "We moved to a cheaper tool", "Deadlines were missed"])
def test_other_answers_are_not_tender(answer: str) -> None:
    assert not is_tender(answer)


@pytest.mark.parametrize(
    ("tag", "question", "language"),
    [
        ("de", SWITCH, "de"),
        ("pt", SWITCH, "pt-BR"),
        ("pt_BR", SWITCH, "pt-BR"),
        ("ar-EG", SWITCH, "ar"),
        ("ja", SWITCH, ""),
        ("", SWITCH, "en"),
        ("", "Was gefällt Ihnen?", "de"),
        ("", "Cosa le piace del servizio?", ""),
        ("", "Почему вы сменили поставщика?", ""),
        ("", "چرا تأمین‌کننده را عوض کردید؟", ""),
        ("", "", ""),
    ],
)
def test_the_language_is_the_forms_or_that_of_its_questions(
    tag: str, question: str, language: str
) -> None:
    assert language_of(tag, (question,)) == language
    assert tag or language_of_form(question) == language


def test_in_a_language_without_phrases_nothing_is_asked() -> None:
    assert decided("Почему вы сменили поставщика?", "Было дорого") == Decision(Reason.NO_PHRASES)


def test_an_ending_holds_whatever_the_language_of_the_form() -> None:
    question = "Почему вы сменили поставщика?"

    assert ending(Thread(DEEP, (Exchange(question, "that's all"),), (question,))) is Reason.REFUSED


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ("It is sometimes ANNOYING to use", True),
        ("It is not good and not nice to use", False),
        ("I do several things a lot there", False),
    ],
)
def test_one_vague_word_is_quoted_unless_it_was_denied(answer: str, quoted: bool) -> None:  # noqa: FBT001
    decision = decided(SWITCH, answer)

    assert decision.technique is Technique.SPECIFY
    assert ("“" in decision.question) is quoted


def test_words_of_another_language_are_known_in_the_answer() -> None:
    with_reason = "Cambiamos porque el contrato terminó y compras quería un solo proveedor"

    assert decided(SWITCH, with_reason).technique is Technique.EXAMPLE


def test_nothing_is_missing_from_words_that_nobody_knows() -> None:
    answer = "Abbiamo cambiato perché il contratto era finito e volevano un solo fornitore"

    assert decided(SWITCH, answer) == Decision(Reason.NOTHING_LEFT)
