"""Trying a draft: the same steps as a respondent's, and nothing stored."""

import random
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.bulk import dump
from tests.pages.creator_client import Creator, hidden, plain
from tests.pages.respondent_client import Respondent, arrive, box, heading, hidden as fields_of
from webapp.base.config import Settings
from webapp.records import forms


@dataclass
class Trying:
    """At a page of the trial of a draft."""

    creator: Creator
    path: str
    page: TestResponse

    def post(self, **fields: Any) -> TestResponse:
        """Press a button of the page; `fields` are it and what was typed."""
        sent = fields_of(self.page) | {"answer": ""} | fields
        self.page = self.creator.post(self.path, **sent)
        return self.page

    def answer(self, text: str) -> TestResponse:
        return self.post(answer=text)

    def skip(self) -> TestResponse:
        return self.post(skip="1")

    def open(self, path: str, **fields: Any) -> TestResponse:
        return self.post(open=path, **fields)

    @property
    def question(self) -> str:
        return heading(self.page)

    @property
    def words(self) -> str:
        return plain(self.page.text)


def begin(creator: Creator, draft_id: str) -> Trying:
    path = f"/drafts/{draft_id}/try"
    return Trying(creator, path, creator.page(path))


def try_draft(creator: Creator, **fields: Any) -> Trying:
    """Begin to try a new draft with these fields."""
    return begin(creator, creator.draft(**fields).id)


SMART = {"followUpMode": "smart", "context": "Two nights were short."}
DEEP = {"followUpMode": "deep_dive"}
PREPARED = {0: [("What came of it?", "always"), ("Who was there?", "always")]}
SAID = ("It was bad", "no comment", "2019", "It depends", "...", "I do not want to answer", "stop")
PRESSED = ("answer", "answer", "answer", "skip", "back")


def files(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


def test_nothing_is_stored(
    app: Flask, ann: Creator, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    draft = ann.draft(**SMART)
    ann.page("/drafts")
    ann.page(f"/drafts/{draft.id}")
    app.extensions["deferred_writes"].settle(5)
    with app.app_context():
        before, kept = dump(), files(settings.data_folder)

    trying = begin(ann, draft.id)
    for text in ("It was bad", "Me", "Nobody came", "It was late"):
        trying.answer(text)
    trying.open("1")
    trying.skip()
    app.extensions["deferred_writes"].settle(5)

    assert len(before) > 10
    with app.app_context():
        assert dump() == before
    assert {path.name for path in files(settings.data_folder) - kept} == set()
    assert "Nobody came" not in caplog.text


def where(page: Any) -> str:
    """The path of the question of a page, "" at the end."""
    found = re.search(r'name="place" value="([^"]*)"', page.text) or re.search(
        r'id="main-form" method="post" action="[^"]*/q/([^"]*)"', page.text
    )
    return found[1] if found else ""


def press(one: Respondent, trying: Trying, chance: random.Random) -> None:
    here, button = where(one.page), chance.choice(PRESSED)
    if not here:
        target = chance.choice(["1", "2"])
        one.post(f"/q/{target}/open")
        trying.open(target)
    elif button == "skip":
        one.post(f"/q/{here}/skip")
        trying.skip()
    elif button == "back" and 'name="left"' in one.page.text:
        one.post("/q/1/open")
        trying.open("1")
    else:
        text = chance.choice(SAID)
        one.post(f"/q/{here}", answer=text)
        trying.answer(text)


@pytest.mark.settings(write_limits=False)
@pytest.mark.parametrize("mode", [SMART, DEEP])
@pytest.mark.parametrize("caps", [{}, {"maxFollowupsPerQuestion": 2, "maxTotalQuestions": 5}])
def test_the_steps_are_those_of_a_respondent(
    app: Flask, ann: Creator, mode: dict[str, str], caps: dict[str, int]
) -> None:
    content: dict[str, Any] = {
        "questions": ["What went wrong?", "How did it end?"],
        "prepared": PREPARED,
    }
    content |= mode | caps
    form = ann.form(**content)
    seen = set()
    for number in range(6):
        chance = random.Random(number)  # noqa: S311
        one, trying = arrive(app.test_client(), form), try_draft(ann, **content)
        for _ in range(14):
            assert where(one.page) == where(trying.page), number
            seen.add(where(one.page))
            press(one, trying, chance)

    assert {"", "1", "2", "1/f/1"} <= seen


def test_more_than_a_page_can_carry_is_refused_alongside_it(ann: Creator) -> None:
    trying = try_draft(ann, questions=[f"Question {number}?" for number in range(20)])
    chance = random.Random(1)  # noqa: S311

    def endless() -> str:
        return "".join(map(chr, chance.choices(range(0x4E00, 0x9FFF), k=20_000)))

    statuses = [trying.answer(endless()).status_code for _ in range(12)]

    assert statuses[0] == 200
    assert statuses[-1] == 422
    assert trying.answer("short").status_code == 200


def test_a_published_form_is_tried_and_counts_nothing(ann: Creator) -> None:
    form = ann.form()
    path = f"/drafts/{form.draft_id}/try"

    page = ann.page(path)
    posted = ann.post(path, carried=hidden(page, "carried"), place="1", answer="Me")

    assert f'href="{path}"' in ann.page(f"/forms/{form.id}/share").text
    assert "Back to the form" in plain(page.text)
    assert posted.status_code == 200
    with ann.context():
        assert forms.get_form(ann.account.id, form.id).answered_count == 0
    ann.post(f"/forms/{form.id}/delete")
    assert ann.page(path).status_code == 404


def test_a_form_is_tried_as_its_creator_agreed(ann: Creator) -> None:
    form = ann.form()
    path = f"/drafts/{form.draft_id}/try"
    typed = ann.page(path).text
    offered = {"shown_records": "yes", "shown_transcriber": "", "shown_writer": ""}

    ann.post(f"/forms/{form.id}/voice", **offered)

    assert "<local-recording" not in typed
    assert "<local-recording" in ann.page(path).text


def test_a_change_meanwhile_starts_over(ann: Creator) -> None:
    draft = ann.draft(questions=["Old?", "Other?"])
    trying = begin(ann, draft.id)
    trying.answer("Me")
    ann.within(ann.by_agent, draft, questions=["New?"])

    page = trying.answer("It")

    assert (page.status_code, trying.question) == (409, "New?")
    assert box(page) == ""
    assert trying.answer("It").status_code == 200


def test_a_forged_page_is_refused(ann: Creator) -> None:
    trying, other = try_draft(ann, questions=["One?"]), try_draft(ann, questions=["Two?"])
    carried = hidden(trying.page, "carried")

    for forged in ("", "x", carried[:-2], "e30." + carried.partition(".")[2]):
        assert (
            trying.creator.post(trying.path, carried=forged, place="1", answer="Me").status_code
            == 422
        )
    assert ann.post(other.path, carried=carried, place="1", answer="Me").status_code == 422


@pytest.mark.parametrize("place", ["2", "1/f/1", "0", "x"])
def test_a_question_that_was_not_asked_is_not_there(ann: Creator, place: str) -> None:
    trying = try_draft(ann, questions=["One?"], **SMART)
    carried = hidden(trying.page, "carried")

    for fields in ({"place": place, "answer": "Me"}, {"place": "1", "open": place}):
        page = trying.creator.post(trying.path, carried=carried, **fields)
        assert page.status_code == 404
