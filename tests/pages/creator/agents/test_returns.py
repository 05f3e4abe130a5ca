"""Sending a draft back, keeping it after all, and the note of a discard: on every page."""

import re
from typing import Any

import pytest
from flask import Flask

from tests.databases import both_databases
from tests.pages.creator.agents.conftest import Drafted
from tests.pages.creator.agents.test_drafted import badge, changed, sections
from tests.pages.creator.agents.test_notes import changed as answer_note
from tests.pages.creator.test_draft import by_agent
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db
from webapp.drafts.reviews import CreatorChange, creator_changes
from webapp.records.drafts import Draft

NOTE = "Shorter, please"
LONG = "x" * 501


@pytest.fixture
def draft(claude: str, drafted: Drafted) -> Draft:
    return drafted(claude)


def quoted(page: str) -> list[str]:
    """The notes of the creator on a page."""
    pattern = r'<bdi>You[^<]*</bdi>: <q class="quoted line-breaks" dir="auto">([^<]*)</q>'
    return re.findall(pattern, page)


def send_back(ann: Creator, draft: Draft, note: str = NOTE, revision: int = 1) -> Any:
    return ann.post(f"/drafts/{draft.id}/return", note=note, revision=revision)


def stored(app: Flask, draft: Draft) -> Draft:
    with app.app_context():
        return db.session.get_one(Draft, draft.id)


@both_databases
def test_a_draft_that_was_sent_back_is_not_counted_until_it_is_kept_or_changed(
    app: Flask, ann: Creator, draft: Draft, drafted: Drafted, claude: str
) -> None:
    drafted(claude, title="Other")
    by_hand = drafted(None, title="By hand")
    counts = [badge(ann)]
    sent = send_back(ann, draft, f" {NOTE}\r\n ")
    page = ann.page(sent.location).text
    counts.append(badge(ann))
    kept = ann.page(ann.post(f"/drafts/{draft.id}/keep", **{"from": "inbox"}).location).text
    counts.append(badge(ann))
    send_back(ann, draft)
    changed(app, draft, claude, title="Shorter")
    after = ann.page("/drafts").text

    assert [*counts, badge(ann)] == ["2 waiting", "1 waiting", "2 waiting", "2 waiting"]
    assert sections(page) == {"waiting": ["Other"], "returned": ["Rota"], "by-hand": ["By hand"]}
    assert quoted(page) == [NOTE]
    assert page.count(f'action="/drafts/{draft.id}/keep"') == 2
    assert "Kept: Rota" in plain(kept)
    assert sections(after)["waiting"] == ["Shorter", "Other"]
    assert "You sent revision" not in ann.page(f"/drafts/{draft.id}").text
    assert "Send back" not in ann.page(f"/drafts/{by_hand.id}").text


@both_databases
def test_notes_on_single_questions_stay_at_them_until_the_agent_has_answered(
    app: Flask, ann: Creator, claude: str, draft: Draft
) -> None:
    path = f"/drafts/{draft.id}"
    on = {f"on-{n}": each["id"] for n, each in enumerate(draft.questions, start=1)}
    ann.post(f"{path}/return", revision=1, note=NOTE, **on, **{"note-1": "Ask <b>when</b>"})

    standing, inbox = ann.page(path).text, ann.page("/drafts").text
    with app.app_context():
        told = [each for each in creator_changes(stored(app, draft)) if each.question_id]
    answer_note(app, draft, claude, "I did", "Rota talks")
    answered, history = ann.page(path).text, plain(ann.page(f"{path}/history").text)
    ann.post(f"{path}/seen", revision=2)

    assert quoted(standing) == [NOTE, "Ask &lt;b&gt;when&lt;/b&gt;"]
    assert NOTE in inbox
    assert told == [
        CreatorChange("question_note", draft.questions[0]["id"], None, "Ask <b>when</b>")
    ]
    words = plain(answered)
    talk = (f"You asked : {NOTE}", "question 1 : Ask", "I did")
    assert sorted(talk, key=words.index) == list(talk)
    assert f"You asked : {NOTE} You asked, of question 1 : Ask" in history
    assert "You asked" not in plain(ann.page(path).text)


@pytest.mark.parametrize(
    ("fields", "status"),
    [
        ({"on-1": "q_gone", "note-1": "What?"}, 422),
        ({"on-1": "q_gone", "note-1": ""}, 303),
        ({"on-1": "{q}", "note-1": LONG}, 422),
        ({"on-1": "{q}", "note-1": "a\x07b"}, 422),
        ({"on-1": "{q}", "note-1": "What?", "revision": 9}, 409),
        ({"note-1": "What?", "on-2": ""}, 303),
        ({"note": LONG}, 422),
        ({"note": "a\x07b"}, 422),
        ({"note": "x" * 500}, 303),
        ({"revision": ""}, 409),
        ({"revision": "9" * 30}, 409),
    ],
)
def test_a_refused_note_loses_nothing(
    app: Flask, ann: Creator, draft: Draft, fields: dict[str, Any], status: int
) -> None:
    question = draft.questions[0]["id"]
    given = {name: question if value == "{q}" else value for name, value in fields.items()}
    given = {"revision": 1, "note": NOTE} | given

    refused = ann.post(f"/drafts/{draft.id}/return", **given)

    found = stored(app, draft)
    assert refused.status_code == status
    assert (found.returned_at is None, found.deleted_at) == (status != 303, None)
    if status != 303:
        assert f">\n{given['note']}</textarea>" in refused.text
        assert given.get("on-1") != question or given["note-1"] in refused.text


def test_pages_of_the_draft_say_that_it_was_sent_back(ann: Creator, draft: Draft) -> None:
    ann.post(f"/drafts/{draft.id}/title", text="Mine", revision=1)
    send_back(ann, draft, revision=2)
    ann.post(f"/drafts/{draft.id}/title", text="Mine again", revision=2)

    newer, older = ann.page(f"/drafts/{draft.id}/history").text.split("Revision 2")
    assert "Sent back" not in newer
    assert quoted(older) == [NOTE]
    for page in ("", "/confirm"):
        shown = ann.page(f"/drafts/{draft.id}{page}").text
        assert "You sent revision 2 back just now" in plain(shown)
        assert quoted(shown) == [NOTE]
        assert f'action="/drafts/{draft.id}/keep"' in shown
        assert f'href="/drafts/{draft.id}/return/edit"' not in shown


def test_what_changed_meanwhile_is_not_sent_back_unread(
    app: Flask, ann: Creator, draft: Draft
) -> None:
    by_agent(app, draft, title="Newer")

    refused = send_back(ann, draft)
    words = plain(refused.text)

    assert refused.status_code == 409
    assert stored(app, draft).returned_at is None
    assert "Error: It changed while you were reading." in words
    assert "Nothing was sent back; your note is below. Read what is different" in words
    assert "It waits for" not in words
    assert "1 change since revision 1 Title, reworded" in words
    assert f">\n{NOTE}</textarea>" in refused.text
    assert send_back(ann, draft, revision=2).status_code == 303


def test_a_discard_of_several_takes_a_note(
    app: Flask, ann: Creator, draft: Draft, drafted: Drafted
) -> None:
    other = drafted(None, title="Other")
    refused = ann.post("/drafts/tidy", draft=draft.id, note=LONG)
    untouched = stored(app, draft).deleted_at
    away = ann.post("/drafts/tidy", draft=draft.id, note=f" {NOTE} ")

    found = stored(app, draft)
    ann.post("/drafts/take-back", at=away.location.partition("discarded=")[2])

    assert (refused.status_code, untouched) == (422, None)
    assert f'value="{draft.id}" checked' in refused.text
    assert f'value="{other.id}" checked' not in refused.text
    assert LONG in refused.text
    assert (found.discard_note, found.deleted_at is not None) == (NOTE, True)
    assert stored(app, draft).discard_note is None


def test_a_confirmed_draft_that_is_sent_back_is_not_confirmed_any_more(
    ann: Creator, draft: Draft
) -> None:
    ann.post(f"/drafts/{draft.id}/confirm", revision=1, shown_hash=draft.content_hash, then="agent")
    send_back(ann, draft)

    words = plain(ann.page(f"/drafts/{draft.id}").text)

    assert "You have confirmed this." not in words
    assert "Changed since you confirmed it" not in words
    assert sections(ann.page("/drafts").text) == {"returned": ["Rota"]}


@pytest.mark.parametrize("then", ["agent", "publish"])
def test_confirming_it_ends_it(ann: Creator, draft: Draft, app: Flask, then: str) -> None:
    send_back(ann, draft)

    ann.post(f"/drafts/{draft.id}/confirm", revision=1, shown_hash=draft.content_hash, then=then)

    assert stored(app, draft).returned_at is None


@both_databases
@pytest.mark.parametrize("decides", ["", "&decides=1"])
def test_an_open_page_hears_of_it_once(ann: Creator, draft: Draft, decides: str) -> None:
    address = f"/drafts/{draft.id}/rev?have=1{decides}"
    send_back(ann, draft)
    sent = ann.swap(f"{address}&returned=0").text
    told = re.search(r'name="notified" value="([^"]*)"', sent)
    shown = re.search(r'name="returned" value="(\d+)"', ann.page(f"/drafts/{draft.id}").text)
    assert told
    assert shown
    again = ann.swap(f"{address}&returned=0&notified={told[1]}")
    ann.post(f"/drafts/{draft.id}/keep")
    kept = [ann.swap(f"{address}&returned={seen}") for seen in ("0", shown[1])]

    assert "You sent this draft back just now, in another window." in plain(sent)
    assert "You kept this draft after all" in kept[1].text
    assert [again.status_code, *(each.status_code for each in kept)] == [204, 204, 200]


def test_a_published_draft_is_neither_sent_back_nor_discarded(ann: Creator, draft: Draft) -> None:
    decided = {"revision": 1, "shown_hash": draft.content_hash, "then": "publish"}
    share = ann.post(f"/drafts/{draft.id}/confirm", **decided).location

    assert send_back(ann, draft).location == share
    assert ann.page(f"/drafts/{draft.id}/return/edit").location == f"/drafts/{draft.id}"
    assert ann.post(f"/drafts/{draft.id}/discard").status_code == 409
