"""Answers as people put them, in the six languages."""

import pytest

from webapp.domain.follow_ups.tender import is_tender


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
def test_tender_answers_are_told_by_more_than_single_words(answer: str) -> None:
    assert is_tender(answer)


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
def test_losses_and_blows_of_other_kinds_are_not_tender(answer: str) -> None:
    assert not is_tender(answer)
