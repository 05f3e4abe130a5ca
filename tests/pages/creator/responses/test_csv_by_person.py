"""Answers as a file with a row for each person."""

import csv
import io
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import (
    make_answer,
    make_follow_up,
    make_follow_up_answer,
    make_form,
    make_response,
)
from tests.pages.creator_client import Creator
from tests.voice.factories import make_spoken_answer, make_voice_form
from webapp.answers import export
from webapp.answers.answering import complete_response, skip_question
from webapp.base.database import utc_now

KEY = "k" * 32
PERSON = ["person", "name", "status", "started_at", "finished_at", "looks_automated"]


@pytest.fixture
def form(app: Flask, ann: Creator) -> Any:
    with app.app_context():
        return make_form(ann.account.id, title="Rota talks")


def rows(ann: Creator, form: Any) -> list[list[str]]:
    """The cells, read strictly; the names of the columns first."""
    content = ann.page(f"/forms/{form.id}/export-by-person.csv").data.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content, newline=""), strict=True))


@both_databases
def test_each_person_has_a_row_and_each_question_a_column(
    app: Flask, ann: Creator, form: Any
) -> None:
    with app.app_context():
        skip_question(form.share_token, KEY, position=0, now=utc_now())
        make_answer(form, KEY, 1, 'She said "no",\r\nthen yes')
        make_answer(form, "l" * 32, 0, "before")
        make_answer(form, "l" * 32, 0, "=1+1")
        complete_response(form.share_token, "l" * 32, responder_name="-Sam", now=utc_now())
        skip_question(form.share_token, "m" * 32, position=0, now=utc_now())

    head, first, second = rows(ann, form)

    assert head == [*PERSON, "1. Who changed it?", "2. What went wrong?", "skipped"]
    assert (first[1:3], first[4:]) == (
        ["", "in_progress"],
        ["", "", "", 'She said "no",\r\nthen yes', "1"],
    )
    assert (second[1:3], second[5:]) == (["'-Sam", "completed"], ["", "'=1+1", "", ""])
    assert all(first[3:4] + second[3:5])


@both_databases
def test_follow_ups_share_the_cell_beside_their_question_in_the_order_of_asking(
    app: Flask, ann: Creator
) -> None:
    with app.app_context():
        form = make_form(ann.account.id, followUpMode="deep_dive")
        make_answer(form, KEY)
        first = make_follow_up(form, KEY, question_text="=Who else?")
        make_follow_up_answer(form, KEY, first, "Mira")
        second = make_follow_up(form, KEY, depth=2, question_text="And then?")
        make_follow_up_answer(form, KEY, second, "Nothing")
        make_follow_up_answer(form, KEY, first, "Mira,\nI think")
        make_follow_up(form, KEY, depth=3)  # nobody answered it

    head, row = rows(ann, form)

    assert head[6:] == [
        *("1. Who changed it?", "1 follow-ups", "2. What went wrong?", "2 follow-ups", "skipped")
    ]
    asked = "'=Who else?\nMira,\nI think\n\nAnd then?\nNothing"
    assert row[6:] == ["Me", asked, "", "", ""]


def test_a_recording_is_named_by_its_address(app: Flask, ann: Creator) -> None:
    with app.app_context():
        form = make_voice_form(ann.account.id)
        recording = make_spoken_answer(form, KEY, 1, text="")

    head, row = rows(ann, form)

    assert head[8:] == ["2. What went wrong?", "2 recordings", "skipped"]
    heard = f"http://127.0.0.1:8000/forms/{form.id}/attachments/{recording.id}"
    assert row[6:] == ["", "", "", heard, ""]


def test_batches_join_to_one_file(
    app: Flask, ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(export, "PEOPLE_IN_BATCH", 2)
    with app.app_context():
        for number in range(5):
            make_response(form, name=str(number))

    assert [row[1] for row in rows(ann, form)] == ["name", *"01234"]


@pytest.mark.parametrize("letter", ["a", "é", "🙂"])
def test_what_no_spreadsheet_takes_is_cut_here_and_whole_elsewhere(
    app: Flask, ann: Creator, letter: str
) -> None:
    words = letter * 50_000
    with app.app_context():
        form = make_voice_form(ann.account.id, questions=["Short?", "Long? " + "x" * 40_000])
        make_spoken_answer(form, KEY, text=words)
        make_answer(form, KEY, 1, "-5")

    head, row = rows(ann, form)
    whole = ann.page(f"/forms/{form.id}/export.csv").text

    for text in (head[8], row[6]):
        assert len(text.encode("utf-16-le")) // 2 in (32_766, 32_767)
        assert text.endswith("… [cut here; the file by answer has all of it]")
    assert row[6][:16_000] == words[:16_000]
    assert row[8] == "-5"
    assert words in whole
    assert "x" * 40_000 in whole
    assert (
        words
        in ann.page(f"/forms/{form.id}/export.json").json["responses"][0]["answers"][0][
            "answerText"
        ]
    )
