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
def test_a_draft_that_was_sent_back_stands_below_and_is_not_counted(
    ann: Creator, draft: Draft, drafted: Drafted, claude: str
) -> None:
    drafted(claude, title="Other")
    before = badge(ann)

    sent = send_back(ann, draft)
    page = ann.page(sent.location).text

    assert (before, badge(ann)) == ("2 waiting", "1 waiting")
    assert sections(page) == {"waiting": ["Other"], "returned": ["Rota"]}
    assert quoted(page) == [NOTE]
    assert "Sent back: Rota Keep it after all" in plain(page)
    assert "One draft wants your eyes." in page


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
    ],
)
def test_a_refused_note_on_a_question_loses_nothing(
    app: Flask, ann: Creator, draft: Draft, fields: dict[str, Any], status: int
) -> None:
    given = {
        name: draft.questions[0]["id"] if value == "{q}" else value
        for name, value in fields.items()
    }

    refused = ann.post(
        f"/drafts/{draft.id}/return", **{"revision": 1, "note": NOTE} | given, htmx=False
    )

    assert refused.status_code == status
    if status != 303:
        assert NOTE in refused.text
        assert given["on-1"] == "q_gone" or given["note-1"] in refused.text
        assert stored(app, draft).returned_at is None


def test_it_is_kept_after_all_from_the_inbox(ann: Creator, draft: Draft) -> None:
    inbox = ann.page(send_back(ann, draft).location).text

    kept = ann.post(f"/drafts/{draft.id}/keep", **{"from": "inbox"})
    page = ann.page(kept.location).text

    assert inbox.count(f'action="/drafts/{draft.id}/keep"') == 2
    assert sections(page) == {"waiting": ["Rota"]}
    assert "Kept: Rota" in plain(page)


@pytest.mark.parametrize("page", ["", "/confirm"])
def test_pages_of_the_draft_say_that_it_stands_sent_back(
    ann: Creator, draft: Draft, page: str
) -> None:
    ann.post(f"/drafts/{draft.id}/title", text="Mine", revision=1)
    send_back(ann, draft, revision=2)

    shown = ann.page(f"/drafts/{draft.id}{page}").text

    assert "You sent revision 2 back just now" in plain(shown)
    assert quoted(shown) == [NOTE]
    assert f'action="/drafts/{draft.id}/keep"' in shown
    assert f'href="/drafts/{draft.id}/return/edit"' not in shown


def test_the_history_says_which_revision_was_sent_back(ann: Creator, draft: Draft) -> None:
    send_back(ann, draft)
    ann.post(f"/drafts/{draft.id}/title", text="Mine", revision=1)

    newer, older = ann.page(f"/drafts/{draft.id}/history").text.split("Revision 1")

    assert "Sent back" not in newer
    assert "Sent back by you, in your browser" in plain(older)
    assert quoted(older) == [NOTE]


def test_nobody_hears_of_what_the_creator_wrote_by_hand(ann: Creator, drafted: Drafted) -> None:
    draft = drafted(None)

    pages = [ann.page(path).text for path in ("/drafts", f"/drafts/{draft.id}")]

    assert not any("Send back" in page for page in pages)


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


@pytest.mark.parametrize("revision", ["", "x", "0", "-1", "9" * 30])
def test_without_its_revision_nothing_is_sent_back(
    app: Flask, ann: Creator, draft: Draft, revision: str
) -> None:
    refused = ann.post(f"/drafts/{draft.id}/return", note=NOTE, revision=revision)

    assert refused.status_code == 409
    assert "The draft is not the one on the page you decided on." in refused.text
    assert "Open the draft and read it once more before you send it back." in refused.text
    assert stored(app, draft).returned_at is None


@pytest.mark.parametrize(
    ("note", "message"),
    [(LONG, "This is longer than 500 characters."), ("a\x07b", "There is a character in it")],
)
def test_a_note_that_cannot_be_kept_is_given_back(
    app: Flask, ann: Creator, draft: Draft, note: str, message: str
) -> None:
    refused = ann.post(f"/drafts/{draft.id}/return", note=note, revision=1)

    found = stored(app, draft)
    assert refused.status_code == 422
    assert message in refused.text
    assert f">\n{note}</textarea>" in refused.text
    assert (found.returned_at, found.deleted_at) == (None, None)


def test_a_note_of_500_characters_is_kept(app: Flask, ann: Creator, draft: Draft) -> None:
    note = "\N{GRINNING FACE}\r\n" * 249 + "ok"

    send_back(ann, draft, f" {note}\r\n ")

    assert stored(app, draft).return_note == note.replace("\r", "")


def test_a_discard_of_several_takes_a_note(app: Flask, ann: Creator, draft: Draft) -> None:
    away = ann.post("/drafts/tidy", draft=draft.id, note=f" {NOTE} ")

    found = stored(app, draft)
    assert (found.discard_note, found.deleted_at is not None) == (NOTE, True)
    ann.post("/drafts/take-back", at=away.location.partition("discarded=")[2])
    assert stored(app, draft).discard_note is None


def test_the_page_that_discards_several_keeps_note_and_choice(
    app: Flask, ann: Creator, draft: Draft, drafted: Drafted
) -> None:
    other = drafted(None, title="Other")

    refused = ann.post("/drafts/tidy", draft=draft.id, note=LONG)

    assert refused.status_code == 422
    assert f'value="{draft.id}" checked' in refused.text
    assert f'value="{other.id}" checked' not in refused.text
    assert LONG in refused.text
    assert stored(app, draft).deleted_at is None


def test_it_waits_again_as_soon_as_an_agent_changes_it(
    app: Flask, ann: Creator, claude: str, draft: Draft
) -> None:
    send_back(ann, draft)
    changed(app, draft, claude, title="Shorter")

    page = ann.page("/drafts").text

    assert sections(page) == {"waiting": ["Shorter"]}
    assert "1 change" in plain(page)
    assert "You sent revision" not in ann.page(f"/drafts/{draft.id}").text


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
@pytest.mark.parametrize(
    ("steps", "news"),
    [
        (["return"], "You sent this draft back just now, in another window."),
        (["return", "keep"], ""),
    ],
)
@pytest.mark.parametrize("decides", ["", "&decides=1"])
def test_an_open_page_hears_of_it(
    ann: Creator, draft: Draft, decides: str, steps: list[str], news: str
) -> None:
    for step in steps:
        ann.post(f"/drafts/{draft.id}/{step}", revision=1, note=NOTE)

    heard = ann.swap(f"/drafts/{draft.id}/rev?have=1&returned=0{decides}")

    assert heard.status_code == (200 if news else 204)
    assert news in plain(heard.text)


def test_an_open_page_is_told_once(ann: Creator, draft: Draft) -> None:
    send_back(ann, draft)
    address = f"/drafts/{draft.id}/rev?have=1&returned=0"
    told = re.search(r'name="notified" value="([^"]*)"', ann.swap(address).text)

    assert told
    assert ann.swap(f"{address}&notified={told[1]}").status_code == 204


def test_an_open_page_hears_that_it_was_kept(ann: Creator, draft: Draft) -> None:
    send_back(ann, draft)
    shown = re.search(r'name="returned" value="(\d+)"', ann.page(f"/drafts/{draft.id}").text)
    ann.post(f"/drafts/{draft.id}/keep")

    assert shown
    address = f"/drafts/{draft.id}/rev?have=1&returned={shown[1]}"
    assert "You kept this draft after all" in ann.swap(address).text
    assert "was sent back" not in ann.swap(f"/drafts/{draft.id}/now").text


def test_a_published_draft_is_not_sent_back(ann: Creator, draft: Draft) -> None:
    decided = {"revision": 1, "shown_hash": draft.content_hash, "then": "publish"}
    share = ann.post(f"/drafts/{draft.id}/confirm", **decided).location

    assert send_back(ann, draft).location == share
    assert ann.page(f"/drafts/{draft.id}/return/edit").location == f"/drafts/{draft.id}"


def test_a_published_draft_is_not_discarded(ann: Creator, draft: Draft) -> None:
    decided = {"revision": 1, "shown_hash": draft.content_hash, "then": "publish"}
    ann.post(f"/drafts/{draft.id}/confirm", **decided)

    refused = ann.post(f"/drafts/{draft.id}/discard")

    assert refused.status_code == 409
