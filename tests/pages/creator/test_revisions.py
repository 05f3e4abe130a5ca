"""Undo, putting changes back, the history page and the note about changes by others."""

import re
from typing import Any

import pytest

from tests.pages.creator_client import Creator, hidden, plain
from webapp.records.drafts import Draft


def changed_by_agent(ann: Creator, **fields: Any) -> Draft:
    """Looked at once, then changed by an agent."""
    draft = ann.draft(goal="Learn", context="Canary")
    ann.page(f"/drafts/{draft.id}")
    return ann.by_agent(draft, **fields)


def to_put_back(page: Any) -> str:
    """The address that undoes the first change of a page."""
    return re.findall('action="(/drafts/[^"]*/put-back)"', page.text)[0]


def test_one_change_of_an_agent_is_put_back(ann: Creator) -> None:
    draft = changed_by_agent(ann, title="From the agent", goal="From the agent")
    ann.swap(f"/drafts/{draft.id}/rev?have=1")
    assert "2 changes since you looked" in plain(ann.swap(f"/drafts/{draft.id}/now").text)
    page = ann.page(f"/drafts/{draft.id}")

    ann.post(to_put_back(page), revision=2, since=hidden(page, "since"))

    kept = ann.stored(draft)
    assert "Undo this change Title" in plain(page.text)
    assert (kept.title, kept.goal) == ("Rota", "From the agent")
    assert "1 change since you looked" in plain(ann.page(f"/drafts/{draft.id}").text)


@pytest.mark.parametrize("htmx", [False, True])
def test_one_change_is_accepted_at_its_question(ann: Creator, *, htmx: bool) -> None:
    draft = ann.draft()
    ann.page(f"/drafts/{draft.id}")
    reworded = [dict(each) for each in draft.questions]
    reworded[1]["text"] += " And why?"
    ann.by_agent(draft, title="From the agent", questions=reworded)
    page = ann.page(f"/drafts/{draft.id}")
    _, at_question = re.findall('action="(/drafts/[^"]*/accept)"', page.text)

    done = ann.post(at_question, htmx=htmx, revision=2, since=1, focus=2)
    again = ann.post(at_question, htmx=htmx, revision=2, since=1, focus=2)

    assert "1 question reworded, 1 other change" in plain(page.text)
    assert {done.status_code, again.status_code} == {200 if htmx else 303}
    ann.post(f"/drafts/{draft.id}/questions/2", revision=2, text="In my words?", context="")
    assert "1 change since you looked" in plain(ann.page(f"/drafts/{draft.id}").text)
    assert "1 change" in plain(ann.page("/drafts").text)
    assert ann.stored(draft).questions[1]["text"] == "In my words?"


@pytest.mark.parametrize("htmx", [False, True])
@pytest.mark.parametrize("path", ["changes/1/put-back", "changes/1/accept", "restore"])
def test_nothing_is_put_back_into_another_revision(ann: Creator, path: str, *, htmx: bool) -> None:
    draft = changed_by_agent(ann, title="From the agent")
    ann.by_agent(draft, goal="Again")

    response = ann.post(f"/drafts/{draft.id}/{path}", htmx=htmx, revision=2, since=1, to=1)

    assert response.status_code == 409
    assert "Nothing was undone." in response.text
    assert ann.stored(draft).title == "From the agent"


@pytest.mark.parametrize(
    ("path", "posted"),
    [
        *(("changes/0123456789abcdef/put-back", {"since": at}) for at in (1, 8, "")),
        *(("changes/0/put-back", {"since": 1}), ("changes/%00/put-back", {"since": 1})),
        *(("restore", {"to": to}) for to in (9, "-1", "")),
    ],
)
def test_what_never_was_is_not_found(ann: Creator, path: str, posted: dict[str, Any]) -> None:
    draft = changed_by_agent(ann, title="From the agent")

    response = ann.post(f"/drafts/{draft.id}/{path}", revision=2, **posted)

    assert response.status_code == 404
    assert ann.stored(draft).revision == 2


def test_the_history_shows_who_when_what_and_the_way_back(ann: Creator) -> None:
    draft = changed_by_agent(ann, title="From the agent")
    ann.confirm(ann.stored(draft), then="agent")
    words = plain(ann.page(f"/drafts/{draft.id}/history").text)
    for number in range(3, 24):
        ann.by_agent(draft, title=f"Title {number}")

    first = plain(ann.page(f"/drafts/{draft.id}/history").text)
    older = plain(ann.page(f"/drafts/{draft.id}/history?before=4").text)

    said = ("Revision 2 An agent,", "Revision 1 You,", "Confirmed by you, in your browser,")
    for each in (*said, "removed: Rota added: From the agent", "Go back to revision 1"):
        assert each in words
    assert "Go back to revision 2" not in words
    assert ("Go back to revision 4" in first, "Go back to revision 3" in first) == (True, False)
    assert "Go back to revision 3" in older
    assert ("Older revisions" in first, "Older revisions" in older) == (True, False)


def test_a_page_hears_of_a_change_and_of_publishing(ann: Creator) -> None:
    draft = ann.draft()
    rev = f"/drafts/{draft.id}/rev?have="
    current = [ann.swap(f"{rev}{looked}") for looked in ("1", "0&notified=1", "x&notified=1")]
    ann.by_agent(draft, title="From the agent")
    changed, decides = ann.swap(f"{rev}1"), ann.swap(f"{rev}1&decides=1")
    ann.confirm(ann.stored(draft))

    published = ann.swap(f"{rev}2")

    assert {(page.status_code, page.data) for page in current} == {(204, b"")}
    assert "changed this draft just now" in changed.text
    assert 'name="notified" value="2"' in changed.text
    assert "<html" not in changed.text
    assert "cannot be published from here" in decides.text
    assert "has been published" in published.text
    assert '<div id="publish-facts" hx-swap-oob="innerHTML"></div>' in published.text
    assert published.headers["HX-Trigger"] == "askback:published"
    assert ann.swap(f"{rev}2&notified=published").status_code == 204
    assert ann.post(f"/drafts/{draft.id}/restore", revision=2, to=1).status_code == 409
    assert ann.stored(draft).title == "From the agent"
    assert "/restore" not in ann.page(f"/drafts/{draft.id}/history").text
