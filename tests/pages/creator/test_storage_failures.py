"""Creator pages while the database is unavailable report it and claim no save."""

from contextlib import nullcontext

import pytest
from flask import Flask

from tests.pages.creator_client import Creator
from tests.pages.respondent_client import storage_away


def test_a_storage_failure_is_reported_and_recovers(app: Flask, ann: Creator) -> None:
    draft = ann.draft()
    path, sent = f"/drafts/{draft.id}/title", {"text": "Better", "revision": "1"}
    ann.post("/nowhere")  # has fetched its token then

    with storage_away(app):
        refused = [ann.page("/drafts"), ann.post(path, **sent), ann.post(path, htmx=True, **sent)]

    assert [page.status_code for page in refused] == [503] * 3
    assert all("We can’t reach the database right now." in page.text for page in refused)
    assert "<html" not in refused[-1].text
    assert "Better</textarea>" in refused[1].text
    assert ann.post(path, **sent).status_code == 303


@pytest.mark.parametrize("gone", ["storage", "token"])
def test_websites_that_could_not_be_saved_are_kept(app: Flask, ann: Creator, gone: str) -> None:
    form = ann.form()
    path, sent = f"/forms/{form.id}/embedding", {"origins": "https://www.example.org"}
    ann.post("/nowhere")  # has fetched its token then

    with storage_away(app) if gone == "storage" else nullcontext():
        refused = ann.post(path, **sent | ({"csrf_token": "old"} if gone == "token" else {}))

    assert refused.status_code == (503 if gone == "storage" else 400)
    assert "https://www.example.org</textarea>" in refused.text
