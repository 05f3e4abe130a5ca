"""How often a creator's pages write, and the page of a refusal, which keeps what was written."""

import re
from html import unescape
from typing import Any

import pytest
from flask import Flask

from tests.factories import make_draft
from tests.pages.creator_client import Creator, hidden, plain
from webapp.base.vocabulary import DraftStatus
from webapp.records import drafts
from webapp.records.drafts import Draft

MODULE = "webapp.pages.creator.request"
PER_HOUR = {"PAGE_WRITES_RATE": "120/hour", "PAGE_FORMS_RATE": "20/hour"}
WORDS = "Nothing was changed, and nothing you wrote is lost."


@pytest.fixture
def draft(app: Flask, ann: Creator) -> Draft:
    with app.app_context():
        return make_draft(ann.account.id)


def current(app: Flask, draft: Draft) -> Draft:
    with app.app_context():
        return drafts.get_draft(draft.account_id, draft.id)


def retitle(app: Flask, ann: Creator, draft: Draft, title: str, **more: Any) -> Any:
    revision = current(app, draft).revision
    return ann.post(f"/drafts/{draft.id}/title", text=title, revision=revision, **more)


def publish(app: Flask, ann: Creator, draft: Draft, then: str = "publish") -> Any:
    found = current(app, draft)
    shown = {"revision": found.revision, "shown_hash": found.content_hash, "then": then}
    return ann.post(f"/drafts/{draft.id}/confirm", **shown)


# as many as by default, however slow the machine is
@pytest.mark.constants(MODULE, **PER_HOUR)
def test_a_program_is_limited(app: Flask, ann: Creator, draft: Draft) -> None:
    made = [ann.post("/drafts/new").status_code for _ in range(80)]
    with app.app_context():
        ready = [make_draft(ann.account.id) for _ in range(30)]
    published = [publish(app, ann, each).status_code for each in ready]
    edits = [retitle(app, ann, draft, f"Title {n}").status_code for n in range(110)]

    assert made == [303] * 20 + [429] * 60
    assert published == [303] * 20 + [429] * 10
    assert edits == [303] * 80 + [429] * 30  # all changes are counted together


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_a_refusal_keeps_what_was_written(app: Flask, ann: Creator, draft: Draft) -> None:
    retitle(app, ann, draft, "First")

    refused = retitle(app, ann, draft, "Second")
    beside = retitle(app, ann, draft, "Third", htmx=True)

    assert (refused.status_code, beside.status_code) == (429, 429)
    assert 1 <= int(refused.headers["Retry-After"]) <= 60
    for page in (refused, beside):
        assert f"{WORDS} The limit is 1 in a minute. Wait 1 minute" in plain(page.text)
    assert ">\nSecond</textarea>" in refused.text
    assert hidden(refused, "text") == "Second"
    assert current(app, draft).title == "First"


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_the_button_of_a_refusal_sends_everything_again(app: Flask, ann: Creator) -> None:
    with app.app_context():
        both = [make_draft(ann.account.id) for _ in range(2)]
    retitle(app, ann, both[0], "First")
    refused = ann.post("/drafts/tidy", draft=[each.id for each in both], note="Too <many>")

    fields = re.findall(r'name="(\w+)" value="([^"]*)"', refused.text)
    assert [unescape(value) for name, value in fields if name == "draft"] == [
        each.id for each in both
    ]
    assert ("note", "Too &lt;many&gt;") in fields
    assert 'action="/drafts/tidy"' in refused.text


@pytest.mark.constants(MODULE, PAGE_FORMS_RATE="1/minute")
def test_confirming_for_an_agent_is_no_publication(app: Flask, ann: Creator) -> None:
    with app.app_context():
        ready = [make_draft(ann.account.id) for _ in range(3)]

    confirmed = [publish(app, ann, each, then="agent").status_code for each in ready]
    published = [publish(app, ann, each).status_code for each in ready]

    assert (confirmed, published) == ([303] * 3, [303, 429, 429])
    assert current(app, ready[0]).status is DraftStatus.PUBLISHED
    assert current(app, ready[1]).status is DraftStatus.DRAFT


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute", PAGE_FORMS_RATE="1/minute")
def test_another_account_has_limits_of_its_own(ann: Creator, stranger: Creator) -> None:
    assert [ann.post("/drafts/new").status_code for _ in range(2)] == [303, 429]
    assert stranger.post("/drafts/new").status_code == 303


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
@pytest.mark.parametrize(
    "path",
    [
        "/drafts/new",
        "/drafts/{draft}/questions",
        "/drafts/{draft}/settings",
        "/drafts/{draft}/restore",
        "/drafts/{draft}/return",
        "/drafts/{draft}/discard",
        "/drafts/{draft}/confirm",
        "/forms/{form}/close",
        "/forms/{form}/copy",
        "/forms/{form}/delete",
        "/forms/{form}/embedding",
        "/forms/{form}/automated/delete",
        "/forms/{form}/people/ses_1/delete",
        "/forms/{form}/people/ses_1/attachments/att_1/try-again",
    ],
)
def test_one_count_for_all_changes(
    app: Flask, ann: Creator, draft: Draft, form: Any, path: str
) -> None:
    retitle(app, ann, draft, "First")

    assert ann.post(path.format(draft=draft.id, form=form.id)).status_code == 429


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
@pytest.mark.parametrize("path", ["/connections/disconnect-all", "/connections/tokens/revoke-all"])
def test_ending_what_others_may_do_is_not_limited(
    app: Flask, ann: Creator, draft: Draft, path: str
) -> None:
    retitle(app, ann, draft, "First")

    assert ann.post(path).status_code == 303
    assert ann.post("/connections/grt_1/mute").status_code == 429


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
def test_what_was_refused_forged_or_only_read_is_not_counted(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    for _ in range(3):
        forged = ann.post(f"/drafts/{draft.id}/title", text="Forged", csrf_token="wrong")
        assert forged.status_code == 400
        assert retitle(app, ann, draft, "x" * 200).status_code == 422
        assert ann.page(f"/drafts/{draft.id}").status_code == 200

    assert [retitle(app, ann, draft, f"{n}").status_code for n in range(2)] == [303, 429]


@pytest.mark.constants(MODULE, PAGE_WRITES_RATE="1/minute")
@pytest.mark.settings(write_limits=False)
def test_write_limits_off_lifts_them(app: Flask, ann: Creator, draft: Draft) -> None:
    assert [retitle(app, ann, draft, f"{n}").status_code for n in range(3)] == [303] * 3
