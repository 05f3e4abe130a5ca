"""Answers as files: every one of them, harmless in a spreadsheet, the same shape as the API's."""

import csv
import io
import json
import secrets
from typing import Any

import pytest
from flask import Flask

from api.wire.responses import form_responses
from tests.databases import both_databases
from tests.factories import (
    make_answer,
    make_follow_up,
    make_follow_up_answer,
    make_form,
    make_response,
    next_moment,
)
from tests.pages.creator_client import Creator
from tests.voice.factories import make_spoken_answer, make_voice_form
from webapp.answers import batches
from webapp.answers.answering import Signs, complete_response, skip_question
from webapp.base.database import db, release_connections, utc_now
from webapp.follow_ups.rules import Reason, Technique
from webapp.pages.creator import export as pages
from webapp.pages.creator.export import CSV_COLUMNS, PERSON_COLUMNS, cell
from webapp.records import forms
from webapp.records.responses.cursor import read_responses

KEY = "k" * 32
FORMULAS = [
    *("=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "＝1+1", "－1", "＋1", "＠A"),  # noqa: RUF001
    *(f"{sign}1+1" for sign in "﹦﹢﹣﹫⁺⁻⁼₊₋₌⩵−"),  # noqa: RUF001
    *(f"{before}＝1" for before in (" ", "\u3000", "\ufeff", "\u200b", "\u00ad", "\u0301", "\x1f")),
    "\ufeff\u202e \U000e0041\ufe0f﹣1+1",
    *("\t=1", "\r=1", "\n=1", "   =1", "\u00a0=1", "\ufeff=1", "\u200b=1", "\tplain"),
    *("-", "+-1", "-1+cmd|' /C calc'!A0", "-5%+1", "+1-2", "-1\n=1+1", "-1 A1", "+1;2"),
    *("-1e5e5", "-" + "1" * 100),
]
HARMLESS = ["plain", "a=b", "1-2", "it's", "'quoted", "", "ليلى", "🙂 =1"]
NUMBERS = ["-5", "+3", "-1.5", "-1,5", "-1.234,56", "+1'000", "- 5", " -5 ", "-.5", "-5%", "-5 %"]
NUMBERS += ["-1e5", "-1.5E-3", "+49 170 1234567", "-1\u202f000", "-٥", "−5", "− 1,5 %"]  # noqa: RUF001


@pytest.fixture
def form(ann: Creator) -> Any:
    return ann.form(title='Rota; talks "now" ünd später')


def rows(ann: Creator, form: Any, name: str = "export-by-person.csv") -> list[list[str]]:
    """The cells, read strictly; the names of the columns first."""
    content = ann.page(f"/forms/{form.id}/{name}").data.decode("utf-8-sig")
    return list(csv.reader(io.StringIO(content, newline=""), strict=True))


def table(ann: Creator, form: Any) -> list[dict[str, str]]:
    """The rows of the file by answer, by the names of its columns."""
    head, *found = rows(ann, form, "export.csv")
    return [dict(zip(head, row, strict=True)) for row in found]


def document(ann: Creator, form: Any) -> Any:
    return json.loads(ann.page(f"/forms/{form.id}/export.json").data)


def test_the_file_by_answer_has_one_row_for_each(ann: Creator, form: Any) -> None:
    assert table(ann, form) == []
    with ann.context():
        make_answer(form, KEY, 1, 'She said "no",\r\nthen ½ yes', signs=Signs(None))
        make_response(form, name="Sam")

    found = table(ann, form)
    lines = ann.page(f"/forms/{form.id}/export.csv").data.split(b"\r\n")

    names = ("answer", "question_number", "name", "status", "looks_automated")
    assert [tuple(row[name] for name in names) for row in found] == [
        ('She said "no",\r\nthen ½ yes', "2", "", "in_progress", "yes"),
        ("Me", "1", "Sam", "completed", ""),
    ]
    assert [bool(row["finished_at"]) for row in found] == [False, True]
    assert found[0]["question"] == "What went wrong?"
    assert lines[0] == b"\xef\xbb\xbf" + ",".join(f'"{name}"' for name in CSV_COLUMNS).encode()
    assert (lines[1][:1], lines[-2][-1:], lines[-1]) == (b'"', b'"', b"")


@pytest.mark.parametrize(
    ("text", "written"),
    [*((text, f"'{text}") for text in FORMULAS), *((text, text) for text in HARMLESS + NUMBERS)],
)
def test_a_cell_never_begins_a_formula(text: str, written: str) -> None:
    assert cell(text) == written


def test_formulas_are_harmless_wherever_people_write(ann: Creator) -> None:
    with ann.context():
        form = make_form(ann.account.id, questions=[{"id": "=q", "text": "@Who?"}])
        make_answer(form, KEY, 0, "=1+1")
        complete_response(form.share_token, KEY, responder_name="-Sam", now=utc_now())

    (row,) = table(ann, form)

    written = (row["answer"], row["name"], row["question"], row["question_id"])
    assert written == ("'=1+1", "'-Sam", "'@Who?", "'=q")
    assert rows(ann, form)[1][1::5] == ["'-Sam", "'=1+1"]


@both_databases
def test_a_follow_up_says_who_asked_it_and_why(ann: Creator, form: Any) -> None:
    by_model = {"writer": "=qwen at 10.0.0.9:8080", "reason": Reason.CHOSEN_BY_MODEL}
    with ann.context():
        make_answer(form, KEY)
        first = make_follow_up(form, KEY, question_text='=Who "else"?')
        make_follow_up_answer(form, KEY, first, "+Mira")
        asked = make_follow_up(form, KEY, depth=2, technique=Technique.EXAMPLE, **by_model)
        make_follow_up_answer(form, KEY, asked, "Monday")
        make_follow_up(form, KEY, depth=3)  # nobody answered it
        make_response(form)

    scripted, *follow_ups, other = table(ann, form)

    assert [(row["asked_by"], row["why"]) for row in (scripted, other)] == [("", "")] * 2
    names = ("question_number", "question", "question_type", "answer", "asked_by", "why")
    assert [tuple(row[name] for name in names) for row in follow_ups] == [
        ("1", "'=Who \"else\"?", "followup", "'+Mira", "rules", "impact: deeper"),
        (
            "1", "What happened as a result?", "followup", "Monday",
            "'=qwen@10.0.0.9:8080", "example: model",
        ),
    ]  # fmt: skip
    assert {row["parent_question_id"] for row in follow_ups} == {form.questions[0]["id"]}
    assert {row["person"] for row in follow_ups} == {scripted["person"]}


def test_json_is_what_the_api_returns(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "PEOPLE_IN_BATCH", 2)
    empty = document(ann, form)
    with ann.context():
        make_answer(form, KEY, 0, "=kept raw")
        make_follow_up_answer(form, KEY, make_follow_up(form, KEY))
        for skips in ("s" * 32, "t" * 32):
            skip_question(form.share_token, skips, position=0, now=next_moment())
        for number in range(5):
            make_response(form, name=str(number))
        form = forms.get_form(ann.account.id, form.id)
        page = form_responses(form, read_responses(form, None))

    assert (empty["responses"], empty["nextSince"]) == ([], None)
    assert document(ann, form) == json.loads(json.dumps(page))


@both_databases
def test_each_person_has_a_row_and_each_question_a_column(ann: Creator, form: Any) -> None:
    with ann.context():
        skip_question(form.share_token, KEY, position=0, now=next_moment())
        make_answer(form, KEY, 1, 'She said "no",\r\nthen yes')
        make_answer(form, "l" * 32, 0, "before")
        make_answer(form, "l" * 32, 0, "after")
        complete_response(form.share_token, "l" * 32, responder_name="Sam", now=next_moment())
        skip_question(form.share_token, "m" * 32, position=0, now=next_moment())

    head, first, second = rows(ann, form)

    assert head == [*PERSON_COLUMNS, "1. Who changed it?", "2. What went wrong?", "skipped"]
    assert first[1:3] + first[4:] == [
        *("", "in_progress", "", "", "", 'She said "no",\r\nthen yes', "1")
    ]
    assert second[1:3] + second[5:] == ["Sam", "completed", "", "after", "", ""]
    assert all(first[3:4] + second[3:5])


def test_what_no_spreadsheet_takes_is_cut_here_and_whole_elsewhere(ann: Creator) -> None:
    words = "🙂" * 50_000
    with ann.context():
        form = make_voice_form(ann.account.id, questions=["Short?", "Long? " + "x" * 40_000])
        make_spoken_answer(form, KEY, text=words)
        make_answer(form, KEY, 1, "-5")

    head, row = rows(ann, form)
    whole = ann.page(f"/forms/{form.id}/export.csv").text

    for text in (head[8], row[6]):
        assert len(text.encode("utf-16-le")) // 2 in (32_766, 32_767)
        assert text.endswith("… [cut here; the file by answer has all of it]")
    assert (row[6][:16_000], row[8]) == (words[:16_000], "-5")
    assert words in whole
    assert "x" * 40_000 in whole


def test_an_account_downloads_twice_at_once(ann: Creator, stranger: Creator, form: Any) -> None:
    path = f"/forms/{form.id}/export.csv"
    for _ in range(3):
        assert ann.page(path).status_code == 200  # each gives its room back
    running, theirs = ann.within(pages.downloads), stranger.form()
    for _ in range(pages.MOST_OF_ONE):
        running.reserve({ann.account.id: pages.MOST_OF_ONE})

    refused = ann.page(path)
    others = stranger.page(f"/forms/{theirs.id}/export.csv").status_code
    running.release(ann.account.id)
    again = ann.page(path).status_code
    running.release(ann.account.id)

    assert (refused.status_code, refused.headers["Retry-After"]) == (429, "10")
    assert f'href="/forms/{form.id}">Back to the answers' in refused.text
    assert (others, again) == (200, 200)


def test_all_together_have_few_places(ann: Creator, form: Any) -> None:
    path, running = f"/forms/{form.id}/export.json", ann.within(pages.downloads)
    others = [str(number) for number in range(pages.MOST)]
    for other in others:
        running.reserve({other: 1})

    refused = ann.page(path).status_code
    running.release(others.pop())

    assert (refused, ann.page(path).status_code) == (429, 200)
    for other in others:
        running.release(other)


@pytest.mark.parametrize("of_file", list(pages.FILES.values()))
def test_it_holds_no_connection_while_its_reader_takes_nothing(
    app: Flask, form: Any, of_file: Any
) -> None:
    with app.app_context():
        make_response(form)
        form = forms.get_form(form.account_id, form.id)
        release_connections()
        pool: Any = db.engine.pool
        taken = [pool.checkedout() for _ in of_file(form)]

    assert len(taken) >= 2
    assert set(taken) == {0}


@both_databases
@pytest.mark.parametrize("people", [False, True])
def test_long_answers_come_few_at_a_time(
    ann: Creator, form: Any, monkeypatch: pytest.MonkeyPatch, *, people: bool
) -> None:
    monkeypatch.setattr(batches, "CHARS_IN_BATCH", 5_000)
    lengths = [10, 10, 10, 2_000, 2_000, 2_000, 2_000, 9_000, 10, 10]
    with ann.context():
        for length in lengths:
            make_answer(form, secrets.token_urlsafe(24), text="x" * length)
        if people:
            found = batches.read_people(form.id)
            read = [[one for each in batch for one in each.answers] for batch in found]
        else:
            read = [list(batch.answers) for batch in batches.read_answers(form.id)]

    found_lengths = [[len(each.answer_text) for each in batch] for batch in read]
    assert sorted(sum(found_lengths, [])) == sorted(lengths)
    assert all(sum(batch) <= 5_000 or len(batch) == 1 for batch in found_lengths)
