"""listService"""

from tests.api.conftest import Agent, Connect
from tests.databases import both_databases
from tests.factories import make_account, make_answer, make_form, make_response
from webapp.base.database import utc_now
from webapp.records import forms
from webapp.records.accounts.models import Account


@both_databases
def test_forms_are_listed(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id, responseLimit="one")

    response = agent.get("/forms")

    body = response.json
    assert response.status_code == 200
    assert body == {
        "formCount": 1,
        "forms": [
            {
                "formId": form.id,
                "title": "Rota",
                "url": f"http://127.0.0.1:8000/r/{form.share_token}",
                "status": "published",
                "questionCount": 2,
                "responseLimit": "one",
                "responseCount": 0,
                "latestResponseAt": None,
                "publishedAt": body["forms"][0]["publishedAt"],
            }
        ],
    }


def test_an_account_without_forms_gets_an_empty_list(agent: Agent) -> None:
    assert agent.get("/forms").json == {"formCount": 0, "forms": []}


def test_times_are_utc_with_milliseconds(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id)

    published_at = agent.get("/forms").json["forms"][0]["publishedAt"]

    assert published_at == form.published_at.isoformat(timespec="milliseconds").replace(
        "+00:00", "Z"
    )


def test_the_newest_form_comes_first(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        made = [make_form(account.id).id for _ in range(3)]

    listed = [form["formId"] for form in agent.get("/forms").json["forms"]]

    assert sorted(listed) == sorted(made)
    times = [form["publishedAt"] for form in agent.get("/forms").json["forms"]]
    assert times == sorted(times, reverse=True)


def test_only_completed_responses_are_counted(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id)
        make_response(form)
        make_answer(form, "under way")

    listed = agent.get("/forms").json["forms"][0]

    assert listed["responseCount"] == 1
    assert listed["latestResponseAt"]


def test_a_closed_form_stays_in_the_list(agent: Agent, account: Account) -> None:
    with agent.app.app_context():
        form = make_form(account.id)
        forms.close_form(account.id, form.id, now=utc_now())

    assert agent.get("/forms").json["forms"][0]["status"] == "closed"


def test_forms_of_others_are_not_listed(agent: Agent, connect: Connect) -> None:
    with agent.app.app_context():
        stranger = make_account()
        make_form(stranger.id)

    assert agent.get("/forms").json["formCount"] == 0
