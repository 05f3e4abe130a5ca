"""Inbox and review page: what a creator sees and changes, and what stays untouched."""

from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.factories import make_draft
from tests.pages.creator_client import Creator, plain
from webapp.base.database import utc_now
from webapp.drafts import editing, revisions
from webapp.drafts.terms import FormTerms, WriterTerms
from webapp.pages.creator import agreements
from webapp.records import drafts
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft


def written(app: Flask, creator: Creator, **fields: Any) -> Draft:
    with app.app_context():
        return make_draft(creator.account.id, **fields)


def drafted(app: Flask, creator: Creator, **fields: Any) -> Draft:
    """A draft that an agent made."""
    values = {"title": "Rota", "questions": ["Who changed it?", "What went wrong?"]} | fields
    changes = parse_draft_input(values)
    with app.app_context():
        return editing.create_draft(creator.account.id, changes, author="grt_1", now=utc_now())


def by_agent(app: Flask, draft: Draft, agent_note: str | None = None, **fields: Any) -> Draft:
    """Another change of the draft, as through the API."""
    with app.app_context():
        changes = parse_draft_input(fields)
        by: dict[str, Any] = {"author": "grt_1", "agent_note": agent_note, "now": utc_now()}
        return editing.update_draft(draft.account_id, draft.id, changes, **by)


def stored(app: Flask, draft: Draft) -> Draft:
    with app.app_context():
        return drafts.get_draft(draft.account_id, draft.id)


def seen(app: Flask, draft: Draft) -> int | None:
    with app.app_context():
        view = revisions.find_view(draft.id)
        return view.revision if view else None


@both_databases
def test_the_inbox_marks_what_is_new_and_what_changed(app: Flask, ann: Creator) -> None:
    drafted(app, ann, title="Fresh")
    looked_at = drafted(app, ann, title="Looked at")
    ann.page(f"/drafts/{looked_at.id}")
    by_agent(app, looked_at, title="Looked at once", goal="Learn")

    words = plain(ann.page("/drafts").text)

    assert "Two drafts want your eyes." in words
    assert "Fresh New" in words
    assert "Looked at once 2 changes" in words


def test_changes_stay_until_they_are_marked_as_read(app: Flask, ann: Creator) -> None:
    draft = written(app, ann, questions=["Tell me about a time it went wrong."])
    ann.page(f"/drafts/{draft.id}", **{"Sec-Purpose": "prefetch;prerender"})
    prefetched = seen(app, draft)
    ann.page(f"/drafts/{draft.id}")
    question = {**draft.questions[0], "text": "Tell me about the last time it went wrong."}
    by_agent(app, draft, questions=[question])

    first, again = (ann.page(f"/drafts/{draft.id}") for _ in range(2))
    before = seen(app, draft)
    marked = ann.post(f"/drafts/{draft.id}/seen", htmx=True, revision=2)

    assert "1 question reworded since you looked" in plain(first.text)
    assert "1 question reworded since you looked" in plain(again.text)
    assert "removed: a added: the last" in plain(first.text)
    assert "reworded" not in marked.text
    assert (prefetched, before, seen(app, draft)) == (None, 1, 2)


@pytest.mark.parametrize(("posted", "kept"), [(2, 2), (1, 1), (9, 1), ("x", 1), (0, 1)])
def test_only_what_the_page_showed_is_marked_as_read(
    app: Flask, ann: Creator, posted: Any, kept: int
) -> None:
    draft = written(app, ann)
    ann.page(f"/drafts/{draft.id}")
    by_agent(app, draft, title="Second")
    by_agent(app, draft, title="Third, while the page was open")

    ann.post(f"/drafts/{draft.id}/seen", revision=posted)

    assert seen(app, draft) == kept


@pytest.mark.parametrize(
    ("part", "column"),
    [
        ("title", "title"),
        ("goal", "goal"),
        ("context", "private_context"),
        ("reason", "public_reason"),
    ],
)
def test_a_text_is_edited_without_scripts(app: Flask, ann: Creator, part: str, column: str) -> None:
    draft = written(app, ann, goal="Old", context="Old")
    text = "New words" if part == "title" else " New\r\nwords "

    editor = ann.page(f"/drafts/{draft.id}/{part}/edit")
    response = ann.post(f"/drafts/{draft.id}/{part}", text=text, revision=1)

    assert "<html" in editor.text
    assert f'action="/drafts/{draft.id}/{part}"' in editor.text
    assert response.status_code == 303
    assert response.location.endswith(f"/drafts/{draft.id}?saved_from=1#{part}")
    assert getattr(stored(app, draft), column).split() == ["New", "words"]
    assert "\r" not in getattr(stored(app, draft), column)


def test_a_swap_updates_the_text_and_all_dependent_parts(app: Flask, ann: Creator) -> None:
    draft = written(app, ann)

    response = ann.post(f"/drafts/{draft.id}/title", htmx=True, text="Better", revision=1)

    assert response.status_code == 200
    assert "<html" not in response.text
    assert response.text.count("hx-swap-oob") == 9
    assert "Revision 2" in response.text
    assert '"to": 2' in response.headers["HX-Trigger"]


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("revision", ["1", "", "x", "-1", "9" * 40, "²"])
def test_a_conflicting_change_shows_both_texts(
    app: Flask, ann: Creator, revision: str, *, htmx: bool
) -> None:
    draft = written(app, ann, title="First")
    by_agent(app, draft, title="From the agent")

    response = ann.post(f"/drafts/{draft.id}/title", htmx=htmx, text="From me", revision=revision)
    kept = stored(app, draft).title
    again = ann.post(f"/drafts/{draft.id}/title", text="From me", revision=2)

    assert (response.status_code, kept) == (409, "From the agent")
    assert "From the agent" in response.text
    assert (">\nFrom me</textarea>" if htmx else 'value="From me"') in response.text
    assert (again.status_code, stored(app, draft).title) == (303, "From me")


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    ("part", "text", "reason"),
    [
        ("title", "x" * 121, "longer than 120 characters"),
        ("goal", "x" * 2001, "longer than 2000 characters"),
        ("context", "x" * 4001, "longer than 4000 characters"),
        ("reason", "x" * 201, "longer than 200 characters"),
        ("goal", "a\x00b", "cannot be kept"),
    ],
)
def test_a_refused_text_stays_in_its_textarea(
    app: Flask, ann: Creator, part: str, text: str, reason: str, *, htmx: bool
) -> None:
    draft = written(app, ann)

    response = ann.post(f"/drafts/{draft.id}/{part}", htmx=htmx, text=text, revision=1)

    assert response.status_code == 422
    assert reason in response.text
    assert text in response.text
    assert 'aria-invalid="true"' in response.text
    assert stored(app, draft).revision == 1


CHOSEN = {
    "followUpMode": "deep_dive",
    "responseMode": "text_only",
    "responseLimit": "one",
    "maxFollowupsPerQuestion": "3",
    "maxTotalQuestions": "7",
}


def test_the_preview_never_holds_the_private_context(app: Flask, ann: Creator) -> None:
    draft = written(app, ann, context="canary-words", goal="canary-goal")

    response = ann.swap(f"/drafts/{draft.id}/preview?preview=2")

    assert "What went wrong?" in response.text
    assert "canary" not in response.text


@pytest.mark.parametrize(
    ("headers", "whole"),
    [
        ({}, True),
        ({"HX-Request": "true"}, False),
        ({"HX-Request": "true", "HX-Boosted": "true"}, True),
        ({"HX-Request": "true", "HX-History-Restore-Request": "true"}, True),
    ],
    ids=str,
)
def test_only_a_swap_gets_a_fragment_and_caches_can_tell(
    app: Flask, ann: Creator, headers: dict[str, str], *, whole: bool
) -> None:
    draft = written(app, ann)

    response = ann.page(f"/drafts/{draft.id}/title/edit", **headers)

    assert ("<html" in response.text) is whole
    for name in ("HX-Request", "HX-Boosted", "HX-History-Restore-Request"):
        assert name in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "private, no-store"


def test_a_published_draft_leads_to_its_form(app: Flask, ann: Creator) -> None:
    draft = written(app, ann)
    ann.post(
        f"/drafts/{draft.id}/confirm", then="publish", revision=1, shown_hash=draft.content_hash
    )

    response = ann.page(f"/drafts/{draft.id}")

    assert response.status_code == 303
    assert response.location.startswith("/forms/frm_")


def test_the_start_leads_to_the_inbox_or_to_the_sign_in_page(app: Flask, ann: Creator) -> None:
    assert ann.page("/").location == "/drafts"
    assert app.test_client().get("/").location == "/login"


def test_a_model_that_dives_deep_wants_context(
    app: Flask, ann: Creator, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = FormTerms(writer=WriterTerms("small at models.example.org"))
    monkeypatch.setattr(agreements, "offered", lambda: offered)
    draft = written(app, ann)

    chosen = ann.post(f"/drafts/{draft.id}/settings", htmx=True, revision=1, **CHOSEN)
    ann.post(f"/drafts/{draft.id}/context", text="Two cafés left", revision=2)

    assert "Add private context" in chosen.text
    assert "Add private context" not in ann.page(f"/drafts/{draft.id}").text


def save(ann: Creator, draft: Draft, *, htmx: bool = False, **changed: Any) -> Any:
    chosen = {"revision": 1} | CHOSEN | changed
    return ann.post(f"/drafts/{draft.id}/settings", htmx=htmx, **chosen)


NUMBERS = ("maxFollowupsPerQuestion", "maxTotalQuestions")


@pytest.mark.parametrize(
    ("typed", "kept"), [({}, (3, 7)), (dict.fromkeys(NUMBERS, ""), (None, None))]
)
def test_settings_are_saved_and_an_empty_number_means_the_default(
    app: Flask, ann: Creator, typed: dict[str, str], kept: tuple[int | None, int | None]
) -> None:
    draft = written(app, ann, maxTotalQuestions=9, maxFollowupsPerQuestion=1)

    response = save(ann, draft, **typed)

    saved = stored(app, draft)
    assert response.status_code == 303
    assert saved.follow_up_mode == CHOSEN["followUpMode"]
    assert saved.response_mode == CHOSEN["responseMode"]
    assert saved.response_limit == CHOSEN["responseLimit"]
    assert (saved.followups_given, saved.max_total_questions) == kept


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    "wrong",
    [
        *({name: value} for name in NUMBERS for value in ("abc", "-1", "51", "9" * 20)),
        {"followUpMode": "always"},
        {"responseMode": ""},
    ],
    ids=str,
)
def test_invalid_settings_are_refused_at_their_field(
    app: Flask, ann: Creator, wrong: dict[str, str], *, htmx: bool
) -> None:
    draft = written(app, ann)

    page = save(ann, draft, htmx=htmx, **wrong)

    (name,) = wrong
    assert page.status_code == 422
    assert stored(app, draft).revision == 1
    if htmx and name in NUMBERS:
        assert "Enter a whole number" in page.text.partition(f'id="{name}-message"')[2]
        assert "Not saved." in page.text
    elif name in NUMBERS:
        field = page.text.partition(f' for="{name}"')[2].partition(">\n  </div>")[0]
        assert "Enter a whole number" in field
        assert ("up to 50" in field) == (wrong[name] == "51")
        assert f'aria-describedby="{name}-message {name}-hint" aria-invalid="true"' in field
        assert page.text.count("aria-invalid") == 1


def test_conflicting_settings_are_not_saved(app: Flask, ann: Creator) -> None:
    draft = written(app, ann)
    by_agent(app, draft, title="Other")

    assert save(ann, draft, htmx=True).status_code == 409
    assert stored(app, draft).response_limit == "multiple"


@pytest.mark.parametrize(
    ("chosen", "told", "below"),
    [
        ({"followUpMode": "none", "maxTotalQuestions": ""}, "Each person gets 2 questions.", False),
        ({"maxTotalQuestions": "5"}, "Each person gets at most 3 questions.", False),
        ({"maxTotalQuestions": "2"}, "Your limits leave no room for follow-up questions.", False),
        ({"maxTotalQuestions": "1"}, "Your limits leave no room for follow-up questions.", True),
    ],
)
def test_what_each_person_gets_follows_from_all_settings(
    app: Flask, ann: Creator, chosen: dict[str, str], told: str, *, below: bool
) -> None:
    draft = written(app, ann)

    saved = save(ann, draft, htmx=True, **chosen).text

    assert told in saved.partition('id="question-limit"')[2]
    assert ("This is less than the 2 questions you wrote." in saved) is below


@pytest.mark.parametrize("htmx", [False, True])
def test_smart_asks_for_the_private_context_and_saves_both(
    app: Flask, ann: Creator, *, htmx: bool
) -> None:
    draft = written(app, ann)
    smart: dict[str, Any] = {"followUpMode": "smart", "htmx": htmx}

    asked, blank = save(ann, draft, **smart), save(ann, draft, context=" ", **smart)
    refused = save(ann, draft, context="x" * 5001, **smart)
    both = save(ann, draft, context="Two cafés close.", **smart)

    for page in (asked, blank, refused):
        assert page.status_code == 422
        assert 'name="context"' in page.text
    assert "field__error" not in asked.text + blank.text
    assert "x" * 5001 in refused.text
    assert both.status_code == (200 if htmx else 303)
    saved = stored(app, draft)
    assert (saved.revision, saved.follow_up_mode) == (2, "smart")
    assert saved.private_context == "Two cafés close."
