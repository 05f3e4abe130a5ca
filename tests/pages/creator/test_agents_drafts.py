"""What agents draft: how it waits in the inbox, muting, notes, sending back, keeping."""

import re
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.browser.example_data import connect
from tests.conftest import Clock
from tests.databases import both_databases
from tests.factories import next_moment
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import editing
from webapp.drafts.reviews import CreatorChange, creator_changes
from webapp.oauth import connections
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft


def connect_agent(ann: Creator, name: str) -> str:
    """A new agent of Ann by its name, which it alone has; the id of its grant."""
    grant: str = ann.within(connect, ann.account.id, name, name, [Scope.FORMS_WRITE], utc_now())
    return grant


@pytest.fixture
def claude(ann: Creator) -> str:
    return connect_agent(ann, "Claude")


def drafted(ann: Creator, author: str | None, at: datetime | None = None, **fields: Any) -> Any:
    """A draft of Ann as an agent makes it; `at` is when."""
    note = fields.pop("agent_note", None)
    given = {"title": "Rota", "questions": ["Who?"]} | fields
    changes = parse_draft_input({name: value for name, value in given.items() if value})
    by: dict[str, Any] = {"author": author, "now": at or next_moment(), "agent_note": note}
    return ann.within(editing.create_draft, ann.account.id, changes, **by)


def sections(page: str) -> dict[str, list[str]]:
    """The titles in each section of the inbox, as they stand."""
    parts = re.split(r'<section class="section" aria-labelledby="([a-z-]+)-label">', page)[1:]
    titles = [re.findall(r'href="/drafts/drf_[^>]*>([^<]*)</a>', part) for part in parts[1::2]]
    return dict(zip(parts[::2], titles, strict=True))


def groups(page: str) -> list[tuple[str, list[str]]]:
    """The heading of each group with the titles below it."""
    found = re.findall(r'draft-group__title">(.*?)</h3>(.*?)</ul>', page, re.DOTALL)
    return [
        (plain(said).strip(), re.findall(r'<a id="drf_[^>]*>([^<]*)</a>', rows))
        for said, rows in found
    ]


def badge(ann: Creator) -> str:
    return plain(ann.swap("/drafts/waiting?have=x").text).strip()


@both_databases
def test_drafts_of_one_agent_within_ten_minutes_stand_in_one_group(
    ann: Creator, clock: Clock
) -> None:
    claude, cursor = connect_agent(ann, "Claude"), connect_agent(ann, "Cursor")
    began = clock.forward(minutes=-60)
    for minutes, author, title in (
        (0, claude, "One"),
        (4, cursor, "Between"),
        (10, claude, "Two"),
        (11, claude, "Later"),
        (12, None, "By hand"),
    ):
        drafted(ann, author, began + timedelta(minutes=minutes), title=title)

    page = ann.page("/drafts").text

    assert groups(page) == [("Claude drafted 2 forms", ["Two", "One"])]
    assert sections(page) == {
        "waiting": ["Later", "Two", "One", "Between"],
        "by-hand": ["By hand"],
    }


@both_databases
@pytest.mark.parametrize(
    ("fields", "is_waiting"),
    [
        ({}, True),
        ({"title": ""}, True),
        ({"title": "  ", "questions": []}, False),
        ({"title": "", "questions": [], "goal": "Learn"}, False),
    ],
)
def test_an_empty_draft_does_not_wait(
    ann: Creator, claude: str, fields: dict[str, Any], *, is_waiting: bool
) -> None:
    drafted(ann, claude, **fields)

    page = ann.page("/drafts").text

    assert list(sections(page)) == ["waiting" if is_waiting else "empty"]
    assert badge(ann) == ("1 waiting" if is_waiting else "")


DAY = timedelta(seconds=connections.MUTED_SECONDS)


def muted(ann: Creator) -> list[str]:
    """The agents that are muted, by their mutes' ends."""
    found = ann.within(connections.list_muted, ann.account.id, now=utc_now())
    return [str(until) for until in found.values()]


@pytest.mark.constants("webapp.pages.creator.request", PAGE_WRITES_RATE="1/minute")
def test_mutes_count_as_writes(ann: Creator) -> None:
    claude = connect_agent(ann, "Claude")
    both = [ann.post(f"/connections/{claude}/{verb}").status_code for verb in ("mute", "unmute")]

    assert both == [303, 429]


@both_databases
def test_drafts_of_a_muted_agent_arrive_quietly_until_it_is_unmuted(ann: Creator) -> None:
    claude, cursor = connect_agent(ann, "Claude"), connect_agent(ann, "Cursor")
    drafted(ann, claude, title="Before")
    drafted(ann, cursor, title="Of another")
    shown = ann.page("/drafts").text.partition("/drafts?v=")[2].partition('"')[0]

    away = ann.post(f"/connections/{claude}/mute")
    told = ann.swap(f"/drafts?v={shown}")
    drafted(ann, claude, title="After")
    page = ann.page("/drafts").text
    count = badge(ann)
    back = [ann.post(f"/connections/{claude}/unmute").location for _ in range(2)]

    assert (away.location, back) == ("/drafts#muted", ["/drafts#waiting"] * 2)
    assert told.status_code == 200
    assert sections(page) == {"waiting": ["Of another"], "muted": ["After", "Before"]}
    assert plain(page).count("New") == 1
    assert re.search("Claude is muted until [^.]*[0-9:]+ UTC *[.]", plain(page))
    assert (count, badge(ann), muted(ann)) == ("1 waiting", "3 waiting", [])


@both_databases
def test_a_mute_ends_after_a_day(ann: Creator, claude: str) -> None:
    drafted(ann, claude)
    began = utc_now()
    with ann.context():
        connections.set_muted(ann.account.id, claude, muted=True, now=began)
        counts = [
            connections.count_waiting(ann.account.id, now=began + later)
            for later in (timedelta(), DAY - timedelta(seconds=1), DAY)
        ]

    assert counts == [0, 0, 1]


NOTE = "Shorter, please"
LONG = "x" * 501


@pytest.fixture
def draft(ann: Creator, claude: str) -> Draft:
    return drafted(ann, claude)


def quoted(page: str) -> list[str]:
    """The notes of the creator on a page."""
    pattern = r'<bdi>You[^<]*</bdi>: <q class="quoted line-breaks" dir="auto">([^<]*)</q>'
    return re.findall(pattern, page)


def send_back(ann: Creator, draft: Draft, note: str = NOTE, revision: int = 1) -> Any:
    return ann.post(f"/drafts/{draft.id}/return", note=note, revision=revision)


def stored(ann: Creator, draft: Draft) -> Any:
    return ann.within(db.session.get_one, Draft, draft.id)


@both_databases
def test_a_draft_that_was_sent_back_is_not_counted_until_it_is_kept_or_changed(
    ann: Creator, draft: Draft, claude: str
) -> None:
    drafted(ann, claude, title="Other")
    by_hand = drafted(ann, None, title="By hand")
    counts = [badge(ann)]
    sent = send_back(ann, draft, f" {NOTE}\r\n ")
    page = ann.page(sent.location).text
    counts.append(badge(ann))
    kept = ann.page(ann.post(f"/drafts/{draft.id}/keep", **{"from": "inbox"}).location).text
    counts.append(badge(ann))
    send_back(ann, draft)
    ann.by_agent(draft, author=claude, title="Shorter")
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
    ann: Creator, claude: str, draft: Draft
) -> None:
    path = f"/drafts/{draft.id}"
    on = {f"on-{n}": each["id"] for n, each in enumerate(draft.questions, start=1)}
    ann.post(f"{path}/return", revision=1, note=NOTE, **on, **{"note-1": "Ask <b>when</b>"})

    standing, inbox = ann.page(path).text, ann.page("/drafts").text
    with ann.context():
        told = [each for each in creator_changes(stored(ann, draft)) if each.question_id]
    ann.by_agent(draft, "I did", claude, title="Rota talks")
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
        ({"on-1": "{q}", "note-1": LONG}, 422),
        ({"on-1": "{q}", "note-1": "a\x07b"}, 422),
        ({"on-1": "{q}", "note-1": "What?", "revision": 9}, 409),
        ({"note": "x" * 500}, 303),
        ({"revision": ""}, 409),
    ],
)
def test_a_refused_note_loses_nothing(
    ann: Creator, draft: Draft, fields: dict[str, Any], status: int
) -> None:
    question = draft.questions[0]["id"]
    given = {name: question if value == "{q}" else value for name, value in fields.items()}
    given = {"revision": 1, "note": NOTE} | given

    refused = ann.post(f"/drafts/{draft.id}/return", **given)

    found = stored(ann, draft)
    assert refused.status_code == status
    assert (found.returned_at is None, found.deleted_at) == (status != 303, None)
    if status != 303:
        assert f">\n{given['note']}</textarea>" in refused.text
        assert given.get("on-1") != question or given["note-1"] in refused.text


def test_a_published_draft_is_neither_sent_back_nor_discarded(ann: Creator, draft: Draft) -> None:
    share = ann.confirm(draft).location

    assert send_back(ann, draft).location == share
    assert ann.page(f"/drafts/{draft.id}/return/edit").location == f"/drafts/{draft.id}"
    assert ann.post(f"/drafts/{draft.id}/discard").status_code == 409
