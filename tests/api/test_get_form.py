"""getService"""

from tests.api.conftest import Agent
from tests.factories import make_form, make_response
from webapp.base.database import utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account


def test_a_form_is_returned(agent: Agent, account: Account) -> None:
    questions = [{"id": "who", "text": "Who?", "context": "A first name"}]
    with agent.app.app_context():
        form = make_form(account.id, questions=questions, goal="Find the gap")

    response = agent.get(f"/forms/{form.id}")

    assert response.status_code == 200
    assert response.json == {
        "formId": form.id,
        "title": "Rota",
        "goal": "Find the gap",
        "questions": questions,
        "settings": {
            "followUpMode": "none",
            "responseMode": "voice_preferred",
            "responseLimit": "multiple",
            "maxFollowupsPerQuestion": 0,
            "maxTotalQuestions": None,
        },
        "shareUrl": f"http://127.0.0.1:8000/r/{form.share_token}",
        "status": "published",
        "responseCount": 0,
        "latestResponseAt": None,
        "publishedAt": response.json["publishedAt"],
    }


def test_a_completed_response_is_counted(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id)
        make_response(form)

    body = agent.get(f"/forms/{form.id}").json

    assert body["responseCount"] == 1
    assert body["latestResponseAt"] > body["publishedAt"]


def test_a_form_for_one_response_is_completed_by_it(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id, responseLimit="one")
        make_response(form)

    assert agent.get(f"/forms/{form.id}").json["status"] == "completed"


def test_a_closed_form_keeps_its_link(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id)
        forms.close_form(account.id, form.id, now=utc_now())

    body = agent.get(f"/forms/{form.id}").json

    assert body["status"] == "closed"
    assert body["shareUrl"].endswith(form.share_token)


def test_the_private_context_is_not_returned(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id, context="they are leaving")

    assert "they are leaving" not in agent.get(f"/forms/{form.id}").text
