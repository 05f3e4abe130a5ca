"""How often creator pages write, and pages of refusals, which keep what was written."""

from typing import Any

import pytest
from flask import Flask

from tests.pages.creator_client import Creator, hidden, plain
from tests.pages.respondent_client import storage_away
from webapp.base.vocabulary import DraftStatus
from webapp.records.drafts import Draft

MODULE = "webapp.pages.creator.request"
PER_HOUR = {"PAGE_WRITES_RATE": "120/hour", "PAGE_FORMS_RATE": "20/hour"}
WORDS = "Nothing was changed, and nothing you wrote is lost."


@pytest.fixture
def draft(ann: Creator) -> Draft:
    return ann.draft()


def retitle(ann: Creator, draft: Draft, title: str, **more: Any) -> Any:
    revision = ann.stored(draft).revision
    return ann.post(f"/drafts/{draft.id}/title", text=title, revision=revision, **more)


# as many as by default, however slow the machine is
@pytest.mark.constants(MODULE, **PER_HOUR)
def test_a_program_is_limited(ann: Creator, draft: Draft) -> None:
    made = [ann.post("/drafts/new").status_code for _ in range(80)]
    ready = [ann.draft() for _ in range(30)]
    published = [ann.confirm(each).status_code for each in ready]
    edits = [retitle(ann, draft, f"Title {n}").status_code for n in range(110)]

    assert made == [303] * 20 + [429] * 60
    assert published == [303] * 20 + [429] * 10
    assert edits == [303] * 80 + [429] * 30  # all changes are counted together


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_a_refusal_keeps_what_was_written(ann: Creator, draft: Draft) -> None:
    retitle(ann, draft, "First")

    refused = retitle(ann, draft, "Second")
    beside = retitle(ann, draft, "Third", htmx=True)

    assert (refused.status_code, beside.status_code) == (429, 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    for page in (refused, beside):
        assert f"{WORDS} The limit is 1 in a minute. Wait 1 minute" in plain(page.text)
    assert ">\nSecond</textarea>" in refused.text
    assert hidden(refused, "text") == "Second"
    assert ann.stored(draft).title == "First"


@pytest.mark.constants(MODULE, PAGE_FORMS_RATE="1/minute")
def test_confirming_for_an_agent_is_no_publication(ann: Creator) -> None:
    ready = [ann.draft() for _ in range(3)]

    confirmed = [ann.confirm(each, then="agent").status_code for each in ready]
    published = [ann.confirm(each).status_code for each in ready]

    assert (confirmed, published) == ([303] * 3, [303, 429, 429])
    assert ann.stored(ready[0]).status is DraftStatus.PUBLISHED
    assert ann.stored(ready[1]).status is DraftStatus.DRAFT


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_one_count_for_all_changes(ann: Creator, draft: Draft, form: Any) -> None:
    retitle(ann, draft, "First")

    of_draft = ("questions", "settings", "restore", "return", "discard", "confirm")
    of_form = ("close", "copy", "delete", "embedding", "automated/delete", "people/ses_1/delete")
    paths = ["/drafts/new", *(f"/drafts/{draft.id}/{step}" for step in of_draft)]
    paths += [f"/forms/{form.id}/{step}" for step in of_form]
    paths += [f"/forms/{form.id}/people/ses_1/attachments/att_1/try-again"]
    assert {ann.post(path).status_code for path in paths} == {429}


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
@pytest.mark.parametrize("path", ["/connections/disconnect-all", "/connections/tokens/revoke-all"])
def test_ending_what_others_may_do_is_not_limited(ann: Creator, draft: Draft, path: str) -> None:
    retitle(ann, draft, "First")

    assert ann.post(path).status_code == 303


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_what_was_refused_forged_or_only_read_is_not_counted(ann: Creator, draft: Draft) -> None:
    for _ in range(3):
        forged = ann.post(f"/drafts/{draft.id}/title", text="Forged", csrf_token="wrong")
        assert forged.status_code == 400
        assert retitle(ann, draft, "x" * 200).status_code == 422
        assert ann.page(f"/drafts/{draft.id}").status_code == 200

    assert [retitle(ann, draft, f"{n}").status_code for n in range(2)] == [303, 429]


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
