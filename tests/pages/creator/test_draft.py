"""Inbox and review page: what a creator sees and changes, and what stays untouched."""

from typing import Any

import pytest

from tests.pages.creator_client import Creator, plain
from webapp.drafts import revisions
from webapp.records.drafts import Draft


def seen(ann: Creator, draft: Draft) -> int | None:
    view = ann.within(revisions.find_view, draft.id)
    return view.revision if view else None


def test_changes_stay_until_they_are_marked_as_read(ann: Creator) -> None:
    draft = ann.draft(questions=["Tell me about a time it went wrong."])
    ann.page(f"/drafts/{draft.id}", **{"Sec-Purpose": "prefetch;prerender"})
    prefetched = seen(ann, draft)
    ann.page(f"/drafts/{draft.id}")
    question = {**draft.questions[0], "text": "Tell me about the last time it went wrong."}
    ann.by_agent(draft, questions=[question])

    first, again = (ann.page(f"/drafts/{draft.id}") for _ in range(2))
    before = seen(ann, draft)
    marked = ann.post(f"/drafts/{draft.id}/seen", htmx=True, revision=2)

    assert "1 question reworded since you looked" in plain(first.text)
    assert "1 question reworded since you looked" in plain(again.text)
    assert "removed: a added: the last" in plain(first.text)
    assert "reworded" not in marked.text
    assert (prefetched, before, seen(ann, draft)) == (None, 1, 2)


@pytest.mark.parametrize(
    ("part", "column"),
    [
        ("title", "title"),
        ("goal", "goal"),
        ("context", "private_context"),
        ("reason", "public_reason"),
    ],
)
def test_a_text_is_edited_without_scripts(ann: Creator, part: str, column: str) -> None:
    draft = ann.draft(goal="Old", context="Old")
    text = "New words" if part == "title" else " New\r\nwords "

    editor = ann.page(f"/drafts/{draft.id}/{part}/edit")
    response = ann.post(f"/drafts/{draft.id}/{part}", text=text, revision=1)

    assert "<html" in editor.text
    assert f'action="/drafts/{draft.id}/{part}"' in editor.text
    assert response.status_code == 303
    assert response.location.endswith(f"/drafts/{draft.id}?saved_from=1#{part}")
    assert getattr(ann.stored(draft), column).split() == ["New", "words"]
    assert "\r" not in getattr(ann.stored(draft), column)


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("revision", ["1", "", "x", "-1", "9" * 40, "²"])
def test_a_conflicting_change_shows_both_texts(ann: Creator, revision: str, *, htmx: bool) -> None:
    draft = ann.draft(title="First")
    ann.by_agent(draft, title="From the agent")

    response = ann.post(f"/drafts/{draft.id}/title", htmx=htmx, text="From me", revision=revision)
    kept = ann.stored(draft).title
    again = ann.post(f"/drafts/{draft.id}/title", text="From me", revision=2)

    assert (response.status_code, kept) == (409, "From the agent")
    assert "From the agent" in response.text
    assert (">\nFrom me</textarea>" if htmx else 'value="From me"') in response.text
    assert (again.status_code, ann.stored(draft).title) == (303, "From me")


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize(
    ("part", "text"),
    [
        *(("title", "x" * 121), ("reason", "x" * 201), ("goal", "a\x00b")),
    ],
)
def test_a_refused_text_stays_in_its_textarea(
    ann: Creator, part: str, text: str, *, htmx: bool
) -> None:
    draft = ann.draft()

    response = ann.post(f"/drafts/{draft.id}/{part}", htmx=htmx, text=text, revision=1)

    assert response.status_code == 422
    assert text in response.text
    assert 'aria-invalid="true"' in response.text
    assert ann.stored(draft).revision == 1


CHOSEN = {
    "followUpMode": "deep_dive",
    "responseMode": "text_only",
    "responseLimit": "one",
    "maxFollowupsPerQuestion": "3",
    "maxTotalQuestions": "7",
}


@pytest.mark.parametrize(
    ("headers", "whole"),
    [
        ({}, True),
        ({"HX-Request": "true"}, False),
        ({"HX-Request": "true", "HX-Boosted": "true"}, True),
    ],
    ids=str,
)
def test_only_a_swap_gets_a_fragment_and_caches_can_tell(
    ann: Creator, headers: dict[str, str], *, whole: bool
) -> None:
    draft = ann.draft()

    response = ann.page(f"/drafts/{draft.id}/title/edit", **headers)

    assert ("<html" in response.text) is whole
    for name in ("HX-Request", "HX-Boosted", "HX-History-Restore-Request"):
        assert name in response.headers["Vary"]
    assert response.headers["Cache-Control"] == "private, no-store"


def save(ann: Creator, draft: Draft, *, htmx: bool = False, **changed: Any) -> Any:
    chosen = {"revision": 1} | CHOSEN | changed
    return ann.post(f"/drafts/{draft.id}/settings", htmx=htmx, **chosen)


NUMBERS = ("maxFollowupsPerQuestion", "maxTotalQuestions")


@pytest.mark.parametrize(
    ("typed", "kept"), [({}, (3, 7)), (dict.fromkeys(NUMBERS, ""), (None, None))]
)
def test_settings_are_saved_and_an_empty_number_means_the_default(
    ann: Creator, typed: dict[str, str], kept: tuple[int | None, int | None]
) -> None:
    draft = ann.draft(maxTotalQuestions=9, maxFollowupsPerQuestion=1)

    response = save(ann, draft, **typed)

    saved = ann.stored(draft)
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
    ann: Creator, wrong: dict[str, str], *, htmx: bool
) -> None:
    draft = ann.draft()

    page = save(ann, draft, htmx=htmx, **wrong)

    (name,) = wrong
    assert page.status_code == 422
    assert ann.stored(draft).revision == 1
    if htmx and name in NUMBERS:
        assert "Enter a whole number" in page.text.partition(f'id="{name}-message"')[2]
    elif name in NUMBERS:
        described = f'aria-describedby="{name}-message {name}-hint" aria-invalid="true"'
        assert described in page.text.partition(f' for="{name}"')[2].partition(">\n  </div>")[0]


@pytest.mark.parametrize("htmx", [False, True])
def test_smart_asks_for_the_private_context_and_saves_both(ann: Creator, *, htmx: bool) -> None:
    draft = ann.draft()
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
    saved = ann.stored(draft)
    assert (saved.revision, saved.follow_up_mode) == (2, "smart")
    assert saved.private_context == "Two cafés close."
