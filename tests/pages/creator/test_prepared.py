"""Follow-ups that a creator writes below a question, before anybody answers."""

from typing import Any

import pytest

from tests.factories import make_draft, prepare
from tests.pages.creator_client import Creator
from webapp.records.drafts import Draft

WHICH, WHO, NEXT = ("Which one?", "if_short"), ("Who else?", "always"), ("And then?", "if_no")


@pytest.fixture
def draft(ann: Creator) -> Draft:
    """Its first question has two follow-ups of an agent."""
    with ann.context():
        asking = {"followUpMode": "smart", "context": "Canary"}
        return prepare(make_draft(ann.account.id, **asking), [WHICH, WHO])


def fields(*follow_ups: tuple[str, str], **others: Any) -> dict[str, Any]:
    """The posted fields of the first question."""
    found: dict[str, Any] = {"text": "Who changed it?", "hint": "", "revision": 2} | others
    for number in (1, 2, 3):
        text, condition = follow_ups[number - 1] if number <= len(follow_ups) else ("", "always")
        found |= {f"follow_up-{number}": text, f"condition-{number}": condition}
    return found


def kept(ann: Creator, draft: Draft, question: int = 0) -> list[tuple[str, str, str]]:
    rows = ann.stored(draft).questions[question].get("follow_ups", [])
    return [(row["text"], row["condition"], row["prepared_by"]) for row in rows]


AGENT, CREATOR = ("agent",), ("creator",)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([WHICH, WHO, NEXT], [WHICH + AGENT, WHO + AGENT, NEXT + CREATOR]),
        ([WHO, WHICH], [WHO + AGENT, WHICH + AGENT]),
        ([WHICH, ("", "always"), NEXT], [WHICH + AGENT, NEXT + CREATOR]),
        ([("Which one?", "if_yes")], [("Which one?", "if_yes") + CREATOR]),
        ([("  Which\r\none? ", "if_short")], [("Which one?", "if_short") + AGENT]),
        ([("Why?", "never")], [("Why?", "always") + CREATOR]),
        ([], []),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_follow_ups_are_written_with_their_question(
    ann: Creator, draft: Draft, written: Any, expected: Any, *, htmx: bool
) -> None:
    response = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **fields(*written))

    assert response.status_code == (200 if htmx else 303)
    assert kept(ann, draft) == expected
    assert ("follow_ups" in ann.stored(draft).questions[0]) is bool(expected)


@pytest.mark.parametrize(
    ("pressed", "expected"),
    [
        ({"up": 2}, ["Who else?", "Which one?", "And then?"]),
        ({"up": 3}, ["Which one?", "And then?", "Who else?"]),
        ({"out": 1}, ["Who else?", "And then?"]),
        ({"out": 3}, ["Which one?", "Who else?"]),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_they_are_put_in_order_before_they_are_saved(
    ann: Creator, draft: Draft, pressed: Any, expected: Any, *, htmx: bool
) -> None:
    form = fields(WHICH, WHO, NEXT, text="Who, then?") | pressed
    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **form)

    places = [page.text.find(text) for text in expected]
    assert (page.status_code, ann.stored(draft).revision) == (200, 2)
    assert -1 not in places
    assert places == sorted(places)
    assert "Who, then?" in page.text
    assert "data-unsaved" in page.text


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x" * 301, "This is longer than 300 characters. Shorten it a little."),
        ("A\0B", "There is a character in it that cannot be kept."),
        ("what WENT wrong? ", "Ask it once, as a question or as a follow-up."),
        (" which one?", "Ask it once, as a question or as a follow-up."),
    ],
)
@pytest.mark.parametrize("htmx", [True, False])
def test_refusals_are_shown_at_the_follow_ups_and_nothing_is_lost(
    ann: Creator, draft: Draft, text: str, told: str, *, htmx: bool
) -> None:
    form = fields(WHICH, (text, "if_no"), text="Who, then?")
    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=htmx, **form)

    assert page.status_code == 422
    assert told in page.text.partition('aria-label="Follow-ups"')[2].partition("<select")[0]
    assert "Who, then?" in page.text
    assert text.strip() in page.text or "\0" in text
    assert kept(ann, draft) == [WHICH + AGENT, WHO + AGENT]


def test_a_change_meanwhile_shows_theirs_and_keeps_mine(ann: Creator, draft: Draft) -> None:
    ann.by_agent(draft, title="Changed meanwhile")

    page = ann.post(f"/drafts/{draft.id}/questions/1", htmx=True, **fields(NEXT))
    ordered = ann.post(f"/drafts/{draft.id}/questions/1", **fields(WHICH, WHO) | {"up": 2})

    assert page.status_code == ordered.status_code == 409
    assert "Which one?" in page.text.partition("What it says now:")[2]
    assert "And then?" in page.text
    ann.post(f"/drafts/{draft.id}/questions/1", **fields(NEXT, revision=3))
    ann.post(f"/drafts/{draft.id}/questions", **fields(WHO, text="Something else?", revision=4))
    assert kept(ann, draft) == [NEXT + CREATOR]
    assert kept(ann, draft, question=2) == [WHO + CREATOR]
