"""getServiceResponses"""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update

from tests.api.conftest import Agent, refusal
from tests.factories import make_answer, make_form, make_response
from webapp.answers import answering
from webapp.base.database import db, utc_now
from webapp.records.accounts.models import Account
from webapp.records.responses.models import Answer, ResponseSession


@pytest.fixture
def answered(agent: Agent, form: Any) -> Any:
    """The form with one completed response of one answer."""
    with agent.app.app_context():
        make_response(form, name="Kim")
    return form


def read(agent: Agent, form: Any, since: str | None = None) -> Any:
    query = {} if since is None else {"since": since}
    response = agent.get(f"/forms/{form.id}/responses", query_string=query)
    assert response.status_code == 200
    return response.json


def test_responses_are_returned(agent: Agent, answered: Any) -> None:
    body = read(agent, answered)

    session = body["responses"][0]
    answer = session["answers"][0]
    assert body == {
        "form": {
            "formId": answered.id,
            "title": "Rota",
            "goal": None,
            "questions": answered.questions,
            "settings": {
                "followUpMode": "none",
                "responseMode": "voice_preferred",
                "responseLimit": "multiple",
                "maxFollowupsPerQuestion": 0,
                "maxTotalQuestions": None,
            },
            "status": "published",
        },
        "status": "published",
        "responseCount": 1,
        "returnedResponseCount": 1,
        "returnedAnswerCount": 1,
        "hasResponses": True,
        "latestResponseAt": session["submittedAt"],
        "nextSince": session["submittedAt"],
        "responses": [
            {
                "sessionId": session["sessionId"],
                "responderName": "Kim",
                "status": "completed",
                "submittedAt": session["submittedAt"],
                "createdAt": session["createdAt"],
                "answers": [
                    {
                        "id": answer["id"],
                        "questionId": answered.questions[0]["id"],
                        "questionText": "Who changed it?",
                        "answerText": "Me",
                        "answerTruncated": False,
                        "attachments": [],
                        "responseType": "text",
                        "questionKind": "scripted",
                        "parentQuestionId": None,
                        "respondedAt": answer["respondedAt"],
                    }
                ],
            }
        ],
        "truncated": False,
    }


def test_a_form_without_answers_has_no_cursor(agent: Agent, form: Any) -> None:
    body = read(agent, form)

    assert body["nextSince"] is None
    assert body["responses"] == []
    assert not body["hasResponses"]


def test_an_answer_is_returned_before_the_response_is_sent(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        make_answer(form, "key")

    body = read(agent, form)

    assert body["responses"][0]["status"] == "in_progress"
    assert body["responses"][0]["submittedAt"] is None
    assert (body["hasResponses"], body["responseCount"]) == (True, 0)


def test_nothing_is_returned_twice(agent: Agent, answered: Any) -> None:
    cursor = read(agent, answered)["nextSince"]

    body = read(agent, answered, cursor)

    assert (body["responses"], body["nextSince"]) == ([], cursor)
    assert body["responseCount"] == 1


def test_a_completion_without_new_answers_is_returned(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        make_answer(form, "key")
    cursor = read(agent, form)["nextSince"]
    with agent.app.app_context():
        answering.complete_response(form.share_token, "key", responder_name="", now=utc_now())

    body = read(agent, form, cursor)

    assert [session["answers"] for session in body["responses"]] == [[]]
    assert body["responses"][0]["status"] == "completed"


@pytest.mark.parametrize("since", [None, "2999-01-01T00:00:00Z"])
def test_the_latest_response_is_the_last_one_that_was_sent(
    since: str | None, agent: Agent, answered: Any
) -> None:
    sent = read(agent, answered)["responses"][0]["submittedAt"]
    with agent.app.app_context():
        make_answer(answered, "under way")

    found = [
        read(agent, answered, since),
        agent.get(f"/forms/{answered.id}").json,
        agent.get("/forms").json["forms"][0],
    ]

    assert [(body["responseCount"], body["latestResponseAt"]) for body in found] == [(1, sent)] * 3


def test_a_page_holds_200_items_and_says_that_more_follow(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        for number in range(201):
            make_answer(form, f"key {number}")

    first = read(agent, form)
    second = read(agent, form, first["nextSince"])

    assert (first["truncated"], first["returnedAnswerCount"]) == (True, 200)
    assert (second["truncated"], second["returnedAnswerCount"]) == (False, 1)


def test_the_longest_answer_is_returned_whole(agent: Agent, form: Any) -> None:
    text = "\N{GRINNING FACE}" * 20_000
    with agent.app.app_context():
        make_answer(form, "key", text=text)

    answer = read(agent, form)["responses"][0]["answers"][0]

    assert (answer["answerText"] == text, answer["answerTruncated"]) == (True, False)


def test_a_longer_answer_is_cut_and_says_so(agent: Agent, answered: Any) -> None:
    with agent.app.app_context():
        db.session.execute(update(Answer).values(answer_text="é" * 20_001))
        db.session.commit()

    answer = read(agent, answered)["responses"][0]["answers"][0]

    assert (answer["answerText"], answer["answerTruncated"]) == ("é" * 20_000, True)


def test_a_page_of_answers_to_a_long_question_is_cut_as_early(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        form = make_form(form.account_id, questions=["é" * 50_000])
        for number in range(7):
            make_answer(form, f"key {number}")

    first = read(agent, form)
    second = read(agent, form, first["nextSince"])

    assert (first["truncated"], first["returnedAnswerCount"]) == (True, 5)
    assert (second["truncated"], second["returnedAnswerCount"]) == (False, 2)


def test_a_page_of_long_answers_is_cut_before_half_a_mebibyte(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        for number in range(7):
            make_answer(form, f"key {number}", text="\N{GRINNING FACE}" * 20_000)

    first = read(agent, form)
    second = read(agent, form, first["nextSince"])

    assert (first["truncated"], first["returnedAnswerCount"]) == (True, 6)
    assert (second["truncated"], second["returnedAnswerCount"]) == (False, 1)


@pytest.mark.parametrize(
    ("hours", "status"), [(23.9, "in_progress"), (24.1, "abandoned"), (9000, "abandoned")]
)
def test_a_session_is_abandoned_after_a_day_without_activity(
    hours: float, status: str, agent: Agent, form: Any
) -> None:
    with agent.app.app_context():
        make_answer(form, "key")
        last_seen(hours)

    session = read(agent, form)["responses"][0]

    assert (session["status"], len(session["answers"])) == (status, 1)


def test_a_completed_session_stays_completed(agent: Agent, answered: Any) -> None:
    with agent.app.app_context():
        last_seen(hours=9000)

    assert read(agent, answered)["responses"][0]["status"] == "completed"


def test_an_abandoned_session_can_be_continued(agent: Agent, form: Any) -> None:
    with agent.app.app_context():
        make_answer(form, "key")
        last_seen(hours=25)
        make_answer(form, "key", position=1)

    session = read(agent, form)["responses"][0]

    assert (session["status"], len(session["answers"])) == ("in_progress", 2)


def last_seen(hours: float) -> None:
    """Every session was active that long ago."""
    then = utc_now() - timedelta(hours=hours)
    db.session.execute(update(ResponseSession).values(last_active_at=then))
    db.session.commit()


def test_answers_are_returned_as_they_were_sent(agent: Agent, form: Any) -> None:
    text = "  <b>é\u0301\r\n\u202e'; DROP TABLE answers; --  "
    with agent.app.app_context():
        make_answer(form, "key", text=text)

    assert read(agent, form)["responses"][0]["answers"][0]["answerText"] == text


def test_no_byte_of_the_private_context_is_returned(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id, context="they are leaving")
        make_response(form)

    assert "they are leaving" not in agent.get(f"/forms/{form.id}/responses").text


@pytest.mark.parametrize(
    ("since", "echoed"),
    [
        ("2999-01-01T00:00:00Z", "2999-01-01T00:00:00.000Z"),
        ("2999-01-01T00:00:00.123456789Z", "2999-01-01T00:00:00.123Z"),
        ("2999-01-01T01:00:00.1+01:00", "2999-01-01T00:00:00.100Z"),
        ("2999-01-01T01:00:00 01:00", "2999-01-01T00:00:00.000Z"),
        ("2999-01-01t00:00:00z", "2999-01-01T00:00:00.000Z"),
        ("2998-12-31T23:30:00-00:30", "2999-01-01T00:00:00.000Z"),
        ("2998-12-31T23:59:60Z", "2999-01-01T00:00:00.000Z"),
        ("9999-12-31T23:59:59.999-23:59", "9999-12-31T23:59:59.999Z"),
    ],
)
def test_a_future_cursor_is_echoed_in_utc(
    since: str, echoed: str, agent: Agent, answered: Any
) -> None:
    body = read(agent, answered, since)

    assert (body["responses"], body["nextSince"]) == ([], echoed)


def test_a_since_with_an_unencoded_plus_is_accepted(agent: Agent, answered: Any) -> None:
    response = agent.get(f"/forms/{answered.id}/responses?since=2999-01-01T01:00:00+01:00")

    assert response.json["nextSince"] == "2999-01-01T00:00:00.000Z"


@pytest.mark.parametrize("since", ["1970-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59"])
def test_a_since_before_all_answers_returns_everything(
    since: str, agent: Agent, answered: Any
) -> None:
    assert read(agent, answered, since)["returnedAnswerCount"] == 1


@pytest.mark.parametrize(
    "since",
    [
        "",
        "yesterday",
        "1763721600",
        "2026-11-21",
        "2026-11-21T10:40:00",
        "2026-11-21T10:40Z",
        "2026-02-30T10:40:00Z",
        "2026-11-21T24:00:00Z",
        "2026-11-21T10:60:00Z",
        "2026-11-21T10:40:61Z",
        "2026-11-21T10:40:00+24:00",
        "2026-11-21T10:40:00.Z",
        "2026-11-21T10:40:00Z\n",
        "0000-01-01T00:00:00Z",
        "12026-11-21T10:40:00Z",
        "-026-11-21T10:40:00Z",
        "٢٠٢٦-11-21T10:40:00Z",
        "\x00",
        "x" * 10_000,
    ],
)
def test_an_invalid_since_is_refused(since: str, agent: Agent, form: Any) -> None:
    response = agent.get(f"/forms/{form.id}/responses", query_string={"since": since})

    assert refusal(response) == (400, "invalid_since")


def test_the_first_of_repeated_since_parameters_is_used(agent: Agent, answered: Any) -> None:
    query = "since=2999-01-01T00:00:00Z&since=1970-01-01T00:00:00Z"

    response = agent.get(f"/forms/{answered.id}/responses?{query}")

    assert response.json["returnedAnswerCount"] == 0


def test_head_responds_like_get_without_a_body(agent: Agent, answered: Any) -> None:
    path = f"/forms/{answered.id}/responses"

    head = agent.call("HEAD", path)

    assert (head.status_code, head.data) == (200, b"")
    assert head.headers["Content-Length"] == agent.get(path).headers["Content-Length"]


def test_other_parameters_are_ignored(agent: Agent, answered: Any) -> None:
    response = agent.get(f"/forms/{answered.id}/responses?limit=1&%FF=%FF")

    assert response.status_code == 200
