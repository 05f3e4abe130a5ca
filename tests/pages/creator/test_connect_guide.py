"""What a creator hands to an agent, and the line that says how far it has come."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from tests.factories import next_millisecond
from tests.oauth.flow import MCP
from tests.pages.creator_client import ORIGIN, Creator, plain
from webapp.base.database import db, to_millis, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import editing
from webapp.oauth.models import OAuthGrant
from webapp.oauth.tokens import issue_token
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.drafts import Draft

PAGES = ["/drafts", "/connections"]


def connect(creator: Creator) -> str:
    """Its grant; the agent is called Askback command line."""
    with creator.context():
        issue_token(creator.account.id, [Scope.FORMS_WRITE], MCP, now=utc_now())
        query = select(OAuthGrant.id).where(OAuthGrant.account_id == creator.account.id)
        return db.session.scalars(query).one()


def draft_by(creator: Creator, grant_id: str | None, title: str = "Lunch") -> Draft:
    content = parse_draft_input({"title": title, "questions": ["What?"]})
    with creator.context():
        return editing.create_draft(
            creator.account.id, content, author=grant_id, now=next_millisecond()
        )


def pasted(text: str) -> list[str]:
    found = re.findall(r'<textarea[^>]* id="paste-[^>]*>(.*?)</textarea>', text, re.DOTALL)
    return [unescape(each) for each in found]


def steps(text: str) -> str:
    return plain(text.partition('<ol class="agent-progress__steps"')[2].partition("</ol>")[0])


@pytest.mark.parametrize("path", PAGES)
def test_the_prompt_and_a_tab_for_each_host_have_the_address_of_this_server(
    path: str, ann: Creator
) -> None:
    page = ann.page(path).text
    prompt = page.partition('<textarea class="text-area text-area--short" id="prompt"')[2]

    assert MCP in prompt
    assert f"{ORIGIN}/docs/skill.md says how." in prompt
    assert len(pasted(page)) > 6
    assert all(ORIGIN in text for text in pasted(page))


def test_the_line_tells_each_step_once(ann: Creator, stranger: Creator) -> None:
    since = to_millis(utc_now())
    asked = f"/connections/progress?since={since}&have="
    grants = [connect(stranger)]
    draft_by(stranger, grants[0], "Not hers")
    nothing = ann.swap(asked)

    grants.append(connect(ann))
    connected = ann.swap(asked)
    same = ann.swap(f"{asked}Askback%20command%20line")
    ann.draft(title="By hand")
    by_hand = ann.swap(f"{asked}Askback%20command%20line")
    draft = draft_by(ann, grants[1], "Lunch <b>")
    arrived = ann.swap(f"{asked}Askback%20command%20line")

    assert [one.status_code for one in (nothing, same, by_hand)] == [204, 204, 204]
    assert steps(connected.text).split(">")[1].strip() == (
        "Askback command line is connected Waiting for its first draft …"
    )
    assert 'id="connected-agents" hx-swap-oob="true"' in connected.text
    assert 'have=Askback%20command%20line" hx-trigger="app:poll from:body"' in connected.text
    assert f'<a href="/drafts/{draft.id}" dir="auto">Lunch &lt;b&gt;</a>' in arrived.text
    assert "app:poll" not in arrived.text.partition("</ol>")[0]
