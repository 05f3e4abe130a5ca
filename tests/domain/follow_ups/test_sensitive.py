"""Answers about death, grave illness, violence and self-harm, and figures of speech like them."""

import pytest

from webapp.follow_ups.signals import is_sensitive
from webapp.follow_ups.text import WordParts


@pytest.mark.parametrize(
    "answer",
    [
        *(
            "my dad passed last spring",
            "lost two of my closest friends",
            "we still haven't buried him",
        ),
        *("wir haben ihn letztes Jahr verloren", "Opa ist friedlich eingeschlafen"),
        *("j'ai perdu mon frère en Afghanistan", "mon père est parti trop tôt"),
        *("perdí a dos amigos en un choque", "al abuelo le quedan seis semanas"),
        *("meu pai partiu na primavera", "meu irmão se afogou nas férias"),
        *("mi tío se está muriendo", "meu tio está morrendo"),
        *("والدي رحل في الربيع", "دفنا جدتي يوم السبت"),
    ],
)
def test_loss_is_told_by_relatives_and_verbs(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("I have ALS", "doctors gave him three months", "they say the cancer's back"),
        *("Ich habe ALS", "wegen meiner Brustkrebsbehandlung", "die Ärzte geben ihr drei Monate"),
        *("J'ai la SLA", "les médecins lui donnent 3 mois", "je suis veuve depuis mars"),
        *("tengo ELA", "ella tiene esclerosis múltiple", "murió tras una larga enfermedad"),
        *("tenho ELA", "descobri um câncer", "fui diagnosticada em março"),
        *("مرضي ليس له علاج", "شخصوني بالسرطان", "أمي مصابة بالشلل"),
    ],
)
def test_illness_is_told_by_its_name_and_by_what_doctors_say(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("he put his hands around my neck", "my ex is stalking me", "he broke my wrist"),
        *("mein Ex bedroht mich", "er würgt mich", "er hat mir unter den Rock gefasst"),
        *("mon copain me tape", "il a essayé de m'étrangler", "il était violent"),
        *("mi padrastro nos pegaba", "intentó ahorcarme", "me rompió la muñeca"),
        *("meu namorado me agride", "levei uma facada", "ele tentou me enforcar"),
        *("خطيبي يعتدي علي", "حاول يخنقني", "زوجي يحبسني في الغرفة"),
    ],
)
def test_violence_is_told_by_what_is_done_to_whom(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("I want to disappear forever", "everybody would be happier if I was gone"),
        *("Ich will für immer verschwinden", "ohne mich wären alle besser dran"),
        *("j'ai envie de disparaître", "tout le monde serait mieux sans moi"),
        *("quiero desaparecer para siempre", "a veces sería más fácil si no existiera"),
        *("quero sumir pra sempre", "todo mundo estaria melhor sem mim"),
        *("أريد أن أختفي إلى الأبد", "الكل سيكون أحسن بدوني"),
    ],
)
def test_the_wish_not_to_live_is_told_without_the_word(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("the printer died again", "my phone is dead", "that project is a dead end"),
        *(
            "the team is dying to try it",
            "the deadline nearly killed us",
            "it was a stroke of luck",
        ),
        *("my sister passed her driving test", "I use it for shooting videos", "beats me"),
        *("der Drucker ist tot", "mein Akku war gestorben", "das hat mir das Leben gerettet"),
        *("ich sterbe vor Langeweile", "ich sammle für die Krebshilfe"),
        *("l'imprimante est morte", "je suis mort de rire", "mourir d'ennui", "le temps mort"),
        *(
            "la impresora murió",
            "me muero de risa",
            "un punto muerto",
            "estoy muriendo por probarlo",
        ),
        "me golpeó lo simple que es",
        *("a impressora morreu", "morri de rir", "tempo morto entre as telas"),
        *("الطابعة ماتت", "أموت في الشوكولاتة", "قتلني الملل"),
    ],
)
def test_figures_of_speech_are_not_sensitive(answer: str) -> None:
    assert not is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("my phone died when my mum died", "bored to death since she killed herself"),
        *(
            "mon téléphone est mort le jour de l'enterrement",
            "der Drucker ist tot, Opa auch gestorben",
        ),
    ],
)
def test_a_figure_of_speech_hides_only_its_own_words(answer: str) -> None:
    assert is_sensitive(answer)


@pytest.mark.parametrize(
    "answer",
    [
        *("Besser als früher", "Ich habe es als App", "ela é ótima", "com ela tudo bem"),
        *("the SLA is 99.9 %", "molesta mucho la publicidad", "استطعنا توفير الوقت", "هدفنا واضح"),
        *("das tue ich gern", "Dies ist gut", "c'est trop tôt pour le dire", "que coma mejor"),
        *("we enforce the rules", "hearing aids", "o cachorro pode morder", "hay abuso de avisos"),
        *("Aufnahme ist nicht mehr da", "le bouton a disparu", "la grabación ya no está aquí"),
    ],
)
def test_a_sensitive_word_of_one_language_may_be_a_plain_one_of_another(answer: str) -> None:
    assert not is_sensitive(answer)


@pytest.mark.parametrize(
    ("word", "is_found"),
    [
        *(("suizidal", True), ("antisuizid", False), ("brustkrebs", True), ("krebse", False)),
        *(("xkernx", True), ("kern", True), ("ker", False)),
    ],
)
def test_a_part_is_looked_for_where_its_hyphens_leave_room(word: str, *, is_found: bool) -> None:
    parts = WordParts("suizid- -krebs -kern-")

    assert list(parts.find(["ein", word])) == [1] * is_found
