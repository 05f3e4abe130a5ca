"""What creators and agents say to each other of a draft: notes, sending back, keeping."""

import re
from typing import Any

import pytest

from tests.databases import both_databases
from tests.pages.creator.agents.conftest import drafted
from tests.pages.creator.agents.test_drafted import badge, sections
from tests.pages.creator_client import Creator, plain
from webapp.base.database import db
from webapp.drafts.reviews import CreatorChange, creator_changes
from webapp.records.drafts import Draft

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


def test_what_changed_meanwhile_is_not_sent_back_unread(ann: Creator, draft: Draft) -> None:
    ann.by_agent(draft, title="Newer")

    refused = send_back(ann, draft)
    words = plain(refused.text)

    assert refused.status_code == 409
    assert stored(ann, draft).returned_at is None
    assert "1 change since revision 1 Title, reworded" in words
    assert f">\n{NOTE}</textarea>" in refused.text
    assert send_back(ann, draft, revision=2).status_code == 303


def test_a_discard_of_several_takes_a_note(ann: Creator, draft: Draft) -> None:
    other = drafted(ann, None, title="Other")
    refused = ann.post("/drafts/tidy", draft=draft.id, note=LONG)
    untouched = stored(ann, draft).deleted_at
    away = ann.post("/drafts/tidy", draft=draft.id, note=f" {NOTE} ")

    found = stored(ann, draft)
    ann.post("/drafts/take-back", at=away.location.partition("discarded=")[2])

    assert (refused.status_code, untouched) == (422, None)
    assert f'value="{draft.id}" checked' in refused.text
    assert f'value="{other.id}" checked' not in refused.text
    assert LONG in refused.text
    assert (found.discard_note, found.deleted_at is not None) == (NOTE, True)
    assert stored(ann, draft).discard_note is None


def test_a_published_draft_is_neither_sent_back_nor_discarded(ann: Creator, draft: Draft) -> None:
    share = ann.confirm(draft).location

    assert send_back(ann, draft).location == share
    assert ann.page(f"/drafts/{draft.id}/return/edit").location == f"/drafts/{draft.id}"
    assert ann.post(f"/drafts/{draft.id}/discard").status_code == 409


WHY = "shorter, so that it fits a phone"


@pytest.fixture
def noted(ann: Creator, claude: str) -> Draft:
    return drafted(ann, claude, agent_note="One question is enough")


def said_by_agents(page: str) -> list[str]:
    """Every note of a page, with who said it."""
    return re.findall(r'<bdi>([^<]*)</bdi>: <q class="quoted" dir="auto">([^<]*)</q>', page)


@pytest.mark.parametrize("page", ["", "/confirm", "/history"])
def test_a_new_draft_says_why_it_is_so_each_time_it_is_looked_at(
    ann: Creator, claude: str, page: str
) -> None:
    noted = drafted(ann, claude, agent_note="</q><script>alert(1)</script> لماذا؟ ” {{7*7}}")

    for _ in range(2):
        shown = ann.page(f"/drafts/{noted.id}{page}").text
        (said,) = said_by_agents(shown)
        assert said[0] == "Claude"
        assert said[1].startswith("&lt;/q&gt;&lt;script&gt;alert")
        assert "{{7*7}}" in said[1]


def test_notes_stand_with_the_changes_that_were_not_seen(
    ann: Creator, claude: str, noted: Draft
) -> None:
    ann.page(f"/drafts/{noted.id}")
    ann.by_agent(noted, WHY, claude, title="Rota talks")
    ann.by_agent(noted, goal="Learn", agent_note="from another")
    path = f"/drafts/{noted.id}"

    review, confirm = ann.page(path).text, ann.page(f"{path}/confirm").text
    stale = ann.confirm(noted)
    ann.post(f"{path}/seen", revision=3)
    after = ann.page(path).text

    both = [("Claude", WHY), ("An agent", "from another")]
    assert said_by_agents(review) == said_by_agents(confirm) == said_by_agents(stale.text) == both
    assert review.index("since you looked") < review.index(WHY) < review.index("<ins>")
    assert stale.status_code == 409
    assert said_by_agents(after) == both[1:]


def test_a_change_of_the_creator_is_never_shown_as_somebody_elses(
    ann: Creator, noted: Draft
) -> None:
    ann.page(f"/drafts/{noted.id}")
    ann.post(f"/drafts/{noted.id}/title", text="My own", revision=1)

    assert said_by_agents(ann.page(f"/drafts/{noted.id}").text) == []
    assert said_by_agents(ann.page(f"/drafts/{noted.id}/confirm").text) == []
