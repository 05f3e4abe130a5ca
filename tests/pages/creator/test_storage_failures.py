"""The database is away while a creator works: said as it is, and nothing pretends to be saved."""

from flask import Flask

from tests.factories import make_draft
from tests.pages.creator_client import Creator
from tests.pages.respondent_client import storage_away


def test_a_storage_failure_is_reported_and_recovers(app: Flask, ann: Creator) -> None:
    with app.app_context():
        draft = make_draft(ann.account.id)
    path, sent = f"/drafts/{draft.id}/title", {"text": "Better", "revision": "1"}
    ann.post("/nowhere")  # has fetched its token then

    with storage_away(app):
        refused = [ann.page("/drafts"), ann.post(path, **sent), ann.post(path, htmx=True, **sent)]

    assert [page.status_code for page in refused] == [503] * 3
    assert all("The storage does not answer just now." in page.text for page in refused)
    assert "<html" not in refused[-1].text
    assert "Better</textarea>" in refused[1].text
    assert ann.post(path, **sent).status_code == 303
