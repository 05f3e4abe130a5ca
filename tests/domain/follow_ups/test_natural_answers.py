"""Answers as people put them, in the six languages."""

import pytest

from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Decision, Exchange, Reason, Thread, decide
from webapp.follow_ups.signals import is_sensitive, is_silent
from webapp.follow_ups.text import read

SWITCH = "What made you switch?"


def decided(question: str, answer: str) -> Decision:
    """The decision on the only answer to the only question of a form."""
    return decide(Thread(FollowUpMode.SMART, (Exchange(question, answer),), (question,)))


@pytest.mark.parametrize(
    "answer",
    [
        *("My husband passed in March", "We buried my father", "she is no longer with us"),
        *("lost my best friend", "we lost the baby", "We lost him to covid", "my late wife did it"),
        *("she has months to live", "my son is in a coma", "I have been feeling depressed"),
        *("I don't want to live anymore", "I’d be better off dead", "he hanged himself"),
        *("I cut my wrists", "She has been sexually harassing me", "he choked me", "I can't go on"),
        *("I was attacked on my way home", "my brother was shot", "I am afraid of my husband"),
        *("Ich habe meine Mutter im März verloren", "wir haben unseren Sohn verloren"),
        *("Wir haben unser Baby in der 20. Woche verloren", "Er ist von uns gegangen"),
        *("meine Mutter ist dement", "Bauchspeicheldrüsenkrebs", "er liegt im Koma"),
        *("Ich ritze mich", "ich verletze mich selbst", "er hat sich das Leben genommen"),
        *("Mein Mann schlägt mich", "er hat mich begrapscht", "Sie belästigt mich sexuell"),
        *("Ich wurde auf dem Parkplatz überfallen", "Er hat gedroht, mich umzubringen"),
        *("Ich kann nicht mehr.", "sexuelle Belästigung", "Ich habe Angst vor meinem Mann"),
        *("J’ai perdu mon meilleur ami", "nous avons perdu notre bébé", "elle n’est plus là"),
        *("je ne veux plus vivre", "Je me scarifie", "il m’a étranglée", "harcèlement sexuel"),
        *("perdí mi bebé", "no quiero seguir viviendo", "me autolesiono", "Se quitó la vida"),
        *("acoso sexual", "No, me agredieron en el aparcamiento", "está en coma"),
        *("perdemos o bebê", "não quero mais viver", "eu me corto", "assédio sexual"),
        *("ele não está mais entre nós", "enterramos meu pai"),
        *("فقدنا طفلنا", "لا أريد العيش", "أجهضت في تلك الفترة", "أجرح نفسي", "في غيبوبة"),
    ],
)
def test_sensitive_answers_are_told_by_more_than_single_words(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("I lost my password", "we lost a customer", "I have two weeks left in my trial"),
        *("Our time was cut", "The deadline has passed", "The workshop really touched me"),
        *("The app kicked me out", "I passed on the offer", "it forced me to log in again"),
        *("Ich habe meinen Schlüssel verloren", "Wir haben Kunden verloren", "ich schlage vor"),
        *("Ich kann nicht mehr drucken", "ich will nicht mehr zahlen", "sie schlägt mir etwas vor"),
        *("J’ai perdu mon mot de passe", "on n’a plus de place", "perdí mi contraseña"),
        *("perdi minha senha", "me corté el pelo", "فقدت كلمة المرور"),
    ],
)
def test_losses_and_blows_of_other_kinds_are_not_sensitive(answer: str) -> None:
    assert not is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("I don't feel comfortable answering this", "I'm not comfortable sharing that"),
        *("I'd like to skip this", "skip this question", "next", "I'm done here"),
        "not answering that",
        *("weiter", "Dazu möchte ich mich nicht äußern", "Darüber möchte ich nicht sprechen"),
        *("Hören Sie auf zu fragen", "hört auf damit", "passer", "siguiente", "próxima"),
        *("don't wanna talk about this", "this is private", "no quiero contestar eso"),
        *("I don't want to answer this", "je ne veux pas répondre", "não quero responder essa"),
        *("mehr hab ich nicht zu sagen", "ya lo dije", "هذا سر", "ça reste entre nous"),
    ],
)
def test_refusals_are_told_in_other_words(answer: str) -> None:
    assert decided(SWITCH, answer).reason is Reason.REFUSED


@pytest.mark.parametrize(
    "answer",
    [
        *("Please stop sending so many emails", "I'm done with the clunky importer, replace it"),
        *("The chair is not comfortable", "I'd like to skip the intro video"),
        *("Bitte hört auf, so viele Mails zu schicken", "Der Termin war nicht weiter schlimm"),
        *("Hören Sie auf Ihre Kunden", "I want a next button"),
        *("I don't want to answer the same form every week", "Ich will nicht mehr zahlen"),
        *("that's all well and good but the app is slow", "das war's mir nicht wert"),
        *("c'est tout le temps en panne", "rien à dire sur le repas mais le service est lent"),
        *("eso es todo un problema para mi equipo", "basta con poner un botón más grande"),
        *("é só isso que faz sentido para nós", "não quero mais pagar por mês"),
        *(
            "I already told the support team",
            "je l'ai déjà dit au support",
            "ya lo dije al soporte",
        ),
        *("هذا كل شيء يهم فريقي", "لا أريد أن أملأ نفس النموذج"),
    ],
)
def test_wishes_are_no_refusals(answer: str) -> None:
    assert decided(SWITCH, answer).reason is not Reason.REFUSED


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Do you have any allergies?", "No"),
        ("Are there any questions you have for us?", "no, thanks"),
        ("What else would you like to tell us?", "No"),
        ("Gibt es Unverträglichkeiten?", "nein"),
        ("Haben Sie noch Fragen an uns?", "Nein"),
        ("Avez-vous des questions pour nous ?", "non"),
        ("¿Tiene usted alguna pregunta para nosotros?", "no"),
        ("Você tem alguma pergunta para nós?", "não"),
        ("هل لديك أي أسئلة لنا؟", "لا"),
    ],
)
def test_nobody_is_asked_why_there_is_nothing(question: str, answer: str) -> None:
    assert decided(question, answer) == Decision(Reason.REFUSED)


@pytest.mark.parametrize(
    "answer",
    [
        *("nah nothing", "hmm, no idea, sorry", "nee nichts", "nan rien", "nop, nada", "não, nada"),
        *("idk, nothing comes to mind", "puh, keine Ahnung ehrlich gesagt", "لا، ولا شيء"),
    ],
)
def test_several_ways_to_say_nothing_are_one_non_answer(answer: str) -> None:
    assert is_silent(read(answer))


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "no dark mode",
            "nothing loads when I'm on the train",
            "no reminders, I forget the dates",
        ),
        *("kein Parkplatz in der Nähe", "pas de mode sombre", "nada como la versión anterior"),
        *("não tem modo escuro", "لا يوجد وضع ليلي"),
    ],
)
def test_what_is_missing_is_an_answer(answer: str) -> None:
    assert decided(SWITCH, answer).reason not in {Reason.NON_ANSWER, Reason.REFUSED}


@pytest.mark.parametrize("answer", ["Who wants to know?", "Muss das sein?", "هل انتهينا؟"])
def test_who_asks_back_is_asked_nothing(answer: str) -> None:
    assert decided(SWITCH, answer).reason is Reason.REFUSED
