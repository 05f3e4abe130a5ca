"""The inbox: what is new in it, forms written by hand, drafts put away and taken back."""

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.pages.creator.test_draft import seen
from tests.pages.creator_client import HTMX, ORIGIN, Creator, hidden, plain
from webapp.answers import trash
from webapp.base.database import db, from_millis, utc_now
from webapp.base.errors import NotFound
from webapp.drafts import publishing
from webapp.records.drafts import Draft


def moment(location: str) -> int:
    return int(location.partition("discarded=")[2])


@both_databases
def test_chosen_drafts_go_and_come_back_together(ann: Creator) -> None:
    first, second, kept = (ann.draft(title=f"Draft {name}") for name in "ABC")
    ann.by_agent(first, goal="Later")
    ann.page(f"/drafts/{second.id}")

    away = ann.post("/drafts/tidy", draft=[first.id, second.id])
    page = ann.page(away.location)
    gone = [ann.page(f"/drafts/{draft.id}").status_code for draft in (first, second, kept)]
    back = ann.post("/drafts/take-back", at=hidden(page, "at")).location

    assert '<p tabindex="-1" autofocus><b>2 drafts discarded.' in page.text
    assert '<p tabindex="-1" autofocus><b>2 drafts restored.' in ann.page(back).text
    assert gone == [404, 404, 200]
    assert ann.stored(first).revision == 2
    assert seen(ann, second) == 1
    assert "discarded" not in plain(ann.page("/drafts").text)


def test_a_discarded_draft_is_not_found_by_its_agent_and_cannot_be_published(ann: Creator) -> None:
    draft = ann.draft()
    ann.confirm(draft, then="agent")
    ann.post(f"/drafts/{draft.id}/discard")

    with ann.context(), pytest.raises(NotFound):
        publishing.publish_draft(ann.account.id, draft.id, now=utc_now())
    with ann.context(), pytest.raises(NotFound):
        ann.by_agent(draft, title="Too late")
    assert "Rota" not in ann.page("/drafts").text


@both_databases
def test_after_a_day_a_discarded_draft_is_purged(ann: Creator) -> None:
    old, young = ann.draft(), ann.draft()
    ann.by_agent(old, title="With a history")
    away = from_millis(moment(ann.post(f"/drafts/{old.id}/discard").location))
    ann.post(f"/drafts/{young.id}/discard")
    later = away + timedelta(seconds=trash.DISCARDED_KEPT_SECONDS)

    with ann.context():
        taken = trash.restore(ann.account.id, away, now=later)
        purged = sum(trash.purge_discarded(later))
        left = {draft_id for (draft_id,) in db.session.execute(db.select(Draft.id))}

    assert (taken, purged) == (0, 1)
    assert left == {young.id}


@both_databases
def test_a_draft_that_is_restored_while_it_would_be_purged_stays(
    ann: Creator, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = ann.draft()
    ann.by_agent(draft, title="With a history")
    away = from_millis(moment(ann.post(f"/drafts/{draft.id}/discard").location))
    in_time = away + timedelta(seconds=trash.DISCARDED_KEPT_SECONDS - 1)
    read_rows = trash.read_rows

    def restored_after(statement: Any, **values: Any) -> Any:
        found = read_rows(statement, **values)
        trash.restore(ann.account.id, away, now=in_time)
        return found

    monkeypatch.setattr(trash, "read_rows", restored_after)
    with ann.context():
        purged = sum(trash.purge_discarded(in_time + timedelta(seconds=1)))

    assert purged == 0
    assert ann.stored(draft).title == "With a history"
    assert ann.page(f"/drafts/{draft.id}/history").status_code == 200


def test_a_session_that_ended_loses_no_typed_text(app: Flask, ann: Creator) -> None:
    draft = ann.draft()
    gone = app.test_client()
    path, typed = f"/drafts/{draft.id}/goal", {"text": "Typed <b>", "hint": "", "revision": 1}

    plain = gone.post(path, base_url=ORIGIN, data=typed, headers={"Origin": ORIGIN})
    foreign = gone.post(
        path, base_url=ORIGIN, data=typed, headers={"Origin": "https://evil.example"}
    )
    swapped = gone.post(path, base_url=ORIGIN, data=typed, headers={"Origin": ORIGIN} | HTMX)

    assert plain.status_code == 400
    assert "Typed &lt;b&gt;" in plain.text
    assert "Typed" not in foreign.text
    assert swapped.status_code == 401
    assert 'href="/login" target="_blank"' in swapped.text


@pytest.mark.parametrize(
    ("shown", "back"),
    [
        (f"{ORIGIN}/forms?x=1#end", "/forms?x=1"),
        ("https://evil.example/forms", ""),
        (f"{ORIGIN}/\\evil.example", ""),
    ],
)
def test_a_poll_without_a_session_leads_to_the_sign_in_page_and_back(
    app: Flask, ann: Creator, shown: str, back: str
) -> None:
    headers = HTMX | {"HX-Current-URL": shown}

    response = app.test_client().get("/drafts?v=x", base_url=ORIGIN, headers=headers)

    login = response.headers["HX-Redirect"]
    assert response.status_code == 401
    assert "<html" not in response.text
    assert ann.page(login).location == back if back else login == "/login"
