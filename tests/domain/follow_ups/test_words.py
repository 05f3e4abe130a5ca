"""The word lists are data: every file loads."""

import pytest

from webapp.follow_ups.lexicon import Lexicon, WordList, WordParts, lexicons, load
from webapp.records.languages import PHRASED

# of questions for yes or no, a language has the beginnings or what is in none of them
EITHER = {"yes_no_starts", "interrogatives"}


@pytest.mark.parametrize("language", PHRASED)
def test_every_list_is_there_and_is_known(language: str) -> None:
    lists = load(f"words/{language}")["lists"].keys()

    assert lists - EITHER == {*Lexicon._fields} - {"say_more"} - EITHER
    assert len(lists & EITHER) == 1
    assert all(getattr(lexicons()[language], name) for name in lists)


@pytest.mark.parametrize(
    ("word", "is_found"),
    [
        *(("suizidal", True), ("antisuizid", False), ("brustkrebs", True), ("krebse", False)),
        *(("xkernx", True), ("kern", True), ("ker", False)),
    ],
)
def test_a_part_is_looked_for_where_its_hyphens_leave_room(word: str, *, is_found: bool) -> None:
    parts = WordParts("suizid- -krebs -kern-")

    assert list(parts.find(["ein", word])) == [range(1, 2)] * is_found


@pytest.mark.parametrize(
    ("written", "text", "is_found"),
    [
        ("a/b c", "x b c", True),
        ("a … c", "a x c", True),
        ("a … c", "a c", False),
        ("a ~ c", "a x y z c", True),
        ("a ~ c", "a x y z z c", False),
        ("do_not/never go", "i do not go", True),
        ("don't go", "dont go", True),
        ("^ a $", "^ a $", True),
        ("^ a $", "^ a b $", False),
    ],
)
def test_a_phrase_is_found_as_it_is_written(written: str, text: str, *, is_found: bool) -> None:
    assert WordList(written).is_in(text.split()) is is_found
