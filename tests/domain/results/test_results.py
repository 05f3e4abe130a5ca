"""What a creator reads by question, found by search and by filter, each read bounded."""

from typing import Any

import pytest

from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers import batches, results
from webapp.answers.results import Filters, comparable, find_answers, find_matches, find_people

pytestmark = pytest.mark.usefixtures("app_context")


def key(number: int) -> str:
    return f"key-of-respondent-{number:06}"


def texts(page: Any) -> list[str]:
    return [answer.answer_text for answer in page.answers]


def names(page: Any) -> list[str | None]:
    return [person.session.responder_name for person in page.people]


@pytest.fixture
def form() -> Any:
    return make_form(make_account().id)


class TestSearchingAnswers:
    @pytest.mark.parametrize(
        ("stored", "words"),
        [
            ("Straße", "STRASSE"),
            ("cafe\u0301", "café"),
            ("زوجي، لأنه", "لأنه"),
        ],
    )
    @both_databases
    def test_search_ignores_case_and_unicode_spelling(
        self, form: Any, stored: str, words: str
    ) -> None:
        make_answer(form, key(1), text=stored)
        make_answer(form, key(2), text="something else")

        assert texts(find_answers(form.id, Filters(words), before=None)) == [stored]

    def test_superseded_and_other_forms_answers_are_not_found(self, form: Any) -> None:
        make_answer(form, key(1), text="old words")
        make_answer(form, key(1), text="new words")
        make_answer(make_form(form.account_id), key(2), text="old words elsewhere")

        assert texts(find_answers(form.id, Filters("words"), before=None)) == ["new words"]

    def test_a_search_looks_at_a_bounded_number_and_goes_on_from_there(
        self, form: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(results, "ANSWERS_LOOKED_AT", 7)
        monkeypatch.setattr(results, "ANSWERS_AT_ONCE", 3)
        for number in range(20):
            make_answer(form, key(number), text="needle" if number % 10 == 0 else "hay")

        pages, before = [], None
        while not pages or before:
            pages.append(find_answers(form.id, Filters("needle"), before=before))
            before = pages[-1].before

        assert [texts(page) for page in pages] == [[], ["needle"], ["needle"]]


class TestPeople:
    def test_a_search_looks_at_a_bounded_number_and_goes_on_from_there(
        self, form: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(results, "PEOPLE_LOOKED_AT", 4)
        monkeypatch.setattr(results, "PEOPLE_AT_ONCE", 3)
        make_response(form, name="needle")
        for _ in range(5):
            make_response(form, name="hay")

        first = find_people(form.id, Filters("needle"), before=None)
        second = find_people(form.id, Filters("needle"), before=first.before)

        assert (names(first), names(second)) == ([], ["needle"])


class TestExports:
    def test_an_answer_corrected_while_it_runs_comes_with_its_new_words(
        self, form: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(batches, "ANSWERS_IN_BATCH", 1)
        for number in range(3):
            make_answer(form, key(number), text=f"answer {number}")

        reading = batches.read_answers(form.id)
        read = [next(reading).answers[0].answer_text]
        make_answer(form, key(2), text="corrected")
        read += [row.answer_text for batch in reading for row in batch.answers]

        assert read == ["answer 0", "answer 1", "corrected"]


def marked(text: str, words: str) -> str:
    parts, at = [], 0
    for start, end in find_matches(text, comparable(words)):
        parts.append(f"{text[at:start]}[{text[start:end]}]")
        at = end
    return "".join([*parts, text[at:]])


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("Straße und STRASSE", "strasse", "[Straße] und [STRASSE]"),
        ("e\u0301 e", "e", "e\u0301 [e]"),
        ("of\ufb01ce", "fi", "of[\ufb01]ce"),
    ],
)
def test_matches_are_whole_letters_of_the_text(text: str, words: str, shown: str) -> None:
    assert marked(text, words) == shown
