"""Published forms, their counts and their responses."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from tests.api.conftest import SETTINGS, Agent, refusal
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.answers import answering
from webapp.answers.trash import delete_form, restore_form
from webapp.base.database import db, utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account
from webapp.records.responses.models import Answer, ResponseSession

EMOJI = "\N{GRINNING FACE}" * 20_000


@pytest.fixture
def answered(agent: Agent, form: Any) -> Any:
    with agent.app.app_context():
        make_response(form, name="Kim")
    return form


def read(agent: Agent, form: Any, since: str | None = None) -> Any:
    query = {} if since is None else {"since": since}
    response = agent.get(f"/forms/{form.id}/responses", query_string=query)
    assert response.status_code == 200
    return response.json


def moment(at: Any) -> str:
    return str(at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))


@both_databases
def test_a_form_is_returned_and_listed(agent: Agent, account: Account) -> None:
    questions = [{"id": "who", "text": "Who?", "context": "A first name"}]
    secret, paths = "they are leaving", ("/forms", "/forms/{}", "/forms/{}/responses")
    assert agent.get("/forms").json == {"formCount": 0, "forms": []}
    with agent.app.app_context():
        older = make_form(account.id)
        form = make_form(account.id, questions=questions, goal="Find the gap", context=secret)
        make_form(make_account().id)  # of others
        make_response(form)

    listed, found, responses = (agent.get(path.format(form.id)) for path in paths)

    summary = listed.json["forms"][0]
    assert [each["formId"] for each in listed.json["forms"]] == [form.id, older.id]
    assert (listed.json["formCount"], summary["questionCount"]) == (2, 1)
    assert summary["url"] == found.json["shareUrl"]
    assert summary["url"] == f"http://127.0.0.1:8000/r/{form.share_token}"
    assert summary["latestResponseAt"] == responses.json["responses"][0]["submittedAt"]
    assert summary["publishedAt"] == moment(form.published_at)
    assert (found.json["goal"], found.json["questions"]) == ("Find the gap", questions)
    assert found.json["settings"] == SETTINGS
    for name in summary.keys() & found.json.keys():
        assert found.json[name] == summary[name]
    assert not any(secret in each.text for each in (found, listed, responses))


def test_a_form_that_takes_no_answers_keeps_its_link(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        closed, completed = (make_form(account.id, responseLimit="one") for _ in range(2))
        make_response(completed)
        forms.close_form(account.id, closed.id, now=utc_now())
    listed = {each["formId"]: each for each in agent.get("/forms").json["forms"]}

    for form, status in ((closed, "closed"), (completed, "completed")):
        body, row = agent.get(f"/forms/{form.id}").json, listed[form.id]
        assert body["status"] == row["status"] == read(agent, form)["status"] == status
        assert body["shareUrl"] == row["url"]
        assert body["shareUrl"].endswith(form.share_token)


def test_a_form_in_the_trash_is_not_found_until_it_is_restored(
    agent: Agent, answered: Any, account: Account
) -> None:
    calls = [
        ("GET", f"/forms/{answered.id}", "form_not_found"),
        ("GET", f"/forms/{answered.id}/responses", "form_not_found"),
        ("GET", f"/forms/{answered.id}/attachments/att_1", "form_not_found"),
        ("GET", f"/drafts/{answered.draft_id}", "draft_not_found"),
        ("PATCH", f"/drafts/{answered.draft_id}", "draft_not_found"),
        ("POST", f"/drafts/{answered.draft_id}/publish", "draft_not_found"),
    ]
    with agent.app.app_context():
        delete_form(account.id, answered.id, now=utc_now())

    for method, path, code in calls:
        assert refusal(agent.call(method, path, json={"goal": "other"})) == (404, code)
    assert agent.get("/forms").json == {"formCount": 0, "forms": []}
    with agent.app.app_context():
        restore_form(account.id, answered.id, now=utc_now())
    assert read(agent, answered)["returnedAnswerCount"] == 1
    assert agent.post(f"/drafts/{answered.draft_id}/publish").json["formId"] == answered.id


def test_answers_come_before_their_response_is_sent_and_its_completion_alone_after(
    agent: Agent, form: Any
) -> None:
    nothing = read(agent, form)
    with agent.app.app_context():
        make_answer(form, "key")
    first = read(agent, form)
    with agent.app.app_context():
        answering.complete_response(form.share_token, "key", responder_name="", now=utc_now())
    second = read(agent, form, first["nextSince"])
    third = read(agent, form, second["nextSince"])

    (begun,), (sent,) = first["responses"], second["responses"]
    assert (nothing["nextSince"], nothing["responses"]) == (None, [])
    assert [each["hasResponses"] for each in (nothing, first, third)] == [False, True, True]
    assert [each["responseCount"] for each in (nothing, first, third)] == [0, 0, 1]
    assert (begun["status"], begun["submittedAt"]) == ("in_progress", None)
    assert (sent["status"], sent["answers"]) == ("completed", [])
    assert (third["responses"], third["nextSince"]) == ([], second["nextSince"])


@pytest.mark.parametrize(
    ("question", "text", "sizes"),
    [("Who?", "Me", (200, 1)), ("é" * 50_000, "Me", (5, 2)), ("Who?", EMOJI, (6, 1))],
    ids=["items", "long question", "long answers"],
)
def test_a_page_is_bounded_and_says_that_more_follow(
    agent: Agent, account: Account, question: str, text: str, sizes: tuple[int, int]
) -> None:
    with agent.app.app_context():
        form = make_form(account.id, questions=[question])
        for number in range(sum(sizes)):
            make_answer(form, f"key {number}", text=text)

    first = read(agent, form)
    second = read(agent, form, first["nextSince"])

    assert (first["truncated"], first["returnedAnswerCount"]) == (True, sizes[0])
    assert (second["truncated"], second["returnedAnswerCount"]) == (False, sizes[1])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (EMOJI, EMOJI),
        ("  <b>é\u0301\r\n\u202e'; DROP TABLE answers; --  ", None),
        ("é" * 20_001, "é" * 20_000),
    ],
)
def test_answers_are_returned_as_they_were_sent_up_to_a_length(
    agent: Agent, form: Any, text: str, shown: str | None
) -> None:
    with agent.app.app_context():
        make_answer(form, "key", text=text[:20_000])
        if shown and shown != text:  # no respondent types more
            db.session.execute(update(Answer).values(answer_text=text))
            db.session.commit()

    answer = read(agent, form)["responses"][0]["answers"][0]

    assert (answer["answerText"], answer["answerTruncated"]) == (shown or text, len(text) > 20_000)


@pytest.mark.parametrize(
    ("hours", "then", "status"),
    [(23.9, "", "in_progress"), (24.1, "", "abandoned"), (9000, "sent before", "completed")],
)
def test_a_session_is_abandoned_after_a_day_without_activity(
    hours: float, then: str, status: str, agent: Agent, form: Any
) -> None:
    with agent.app.app_context():
        make_answer(form, "key")
        if then == "sent before":
            answering.complete_response(form.share_token, "key", responder_name="", now=utc_now())
        moved = utc_now() - timedelta(hours=hours)
        db.session.execute(update(ResponseSession).values(last_active_at=moved))
        db.session.commit()

    (session,) = read(agent, form)["responses"]

    assert session["status"] == status


@pytest.mark.parametrize(
    ("since", "echoed"),
    [
        ("2999-01-01T00:00:00.123456789Z", "2999-01-01T00:00:00.123Z"),
        ("2999-01-01T01:00:00 01:00", "2999-01-01T00:00:00.000Z"),
        ("2998-12-31T23:59:60Z", "2999-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999-23:59", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_future_cursor_is_echoed_in_utc(
    since: str, echoed: str, agent: Agent, answered: Any
) -> None:
    body = read(agent, answered, since)

    assert (body["responses"], body["nextSince"]) == ([], echoed)
    for early in ("1970-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59"):
        assert read(agent, answered, early)["returnedAnswerCount"] == 1


NO_MOMENTS = [
    *("", "yesterday", "1763721600", "2026-11-21", "2026-11-21T10:40:00", "2026-11-21T10:40Z"),
    *("2026-02-30T10:40:00Z", "2026-11-21T24:00:00Z", "2026-11-21T10:40:61Z", "x" * 10_000),
    *("2026-11-21T10:40:00+24:00", "2026-11-21T10:40:00.Z", "2026-11-21T10:40:00Z\n", "\x00"),
    *("0000-01-01T00:00:00Z", "12026-11-21T10:40:00Z", "٢٠٢٦-11-21T10:40:00Z"),
]


def test_an_invalid_since_is_refused(agent: Agent, form: Any) -> None:
    for since in NO_MOMENTS:
        response = agent.get(f"/forms/{form.id}/responses", query_string={"since": since})
        assert refusal(response) == (400, "invalid_since"), since
