"""An installation of the longest texts and lists that people meet, and its pages.

Titles, questions and answers are as long as they may be or longer than any line, some without a
place to break, some with Arabic beside Latin. All functions need an application context.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from tests.browser.example_data import connect, creator, published, respond, write
from tests.browser.example_pages import ExamplePage, at
from tests.browser.example_texts import EMAIL
from webapp.answers import trash
from webapp.base.database import utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import editing, revisions
from webapp.records.content.draft_input import TITLE_MAX_CHARS, parse_draft_input
from webapp.records.content.model import QUESTIONS_MAX

QUESTION_CHARS = 300
RESPONSES = 220
UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
ARABIC = "ما الذي تغيّر في جدول المناوبات هذا الأسبوع، ومن غيّره، ولماذا؟ "
LATIN = "When the early shift was swapped at short notice, who told whom, by which way, and why? "
MIXED = "Mira قالت إنّ the Friday close كان خطأ (see page 3), ثم غيّرته. "
TITLES = [
    f"Schichtplan: {UNBROKEN * 2}"[:TITLE_MAX_CHARS],
    (ARABIC + MIXED)[:TITLE_MAX_CHARS],
    (LATIN * 2)[:TITLE_MAX_CHARS],
]
ANSWERS = [LATIN * 12, UNBROKEN * 5, ARABIC * 6, MIXED * 6, "No."]
NAMES = ["Sam Okafor", "ليلى", UNBROKEN[:80], "", "Mira"]


@dataclass(frozen=True)
class LongData:
    """Addresses of it, as paths."""

    draft: str
    form: str
    asks: str


def questions() -> list[str]:
    """As many as a form may have."""
    texts = [LATIN * 4, UNBROKEN * 4, ARABIC * 5, MIXED * 6]
    return [f"{n}: {texts[n % 4]}"[:QUESTION_CHARS] for n in range(1, QUESTIONS_MAX + 1)]


def content(title: str) -> dict[str, Any]:
    hints = [{"text": text, "context": text} for text in questions()]
    return {"title": title, "goal": LATIN * 20, "questions": hints, "responseMode": "text_only"}


def make_long_data() -> LongData:
    """Fill an empty database; commits."""
    now = utc_now() - timedelta(minutes=30)  # "30 min ago" is wider than "now"
    account_id = creator(EMAIL, now)
    agent = connect(account_id, "long", f"Agent {UNBROKEN}", [*Scope], now - timedelta(days=30))
    for title in TITLES[1:]:
        write(account_id, content(title), agent, now)
    thrown = published(account_id, content(TITLES[0]), agent, now).id
    trash.delete_form(account_id, thrown, now=now - timedelta(days=2))
    form = published(account_id, content(TITLES[0]), agent, now - timedelta(days=400))
    for number in range(RESPONSES):
        words = (NAMES[number % 5], ANSWERS[number % 5], ANSWERS[(number + 1) % 5])
        key = f"respondent-{number}-respondent-{number}"
        respond(form, key, words, now - timedelta(hours=RESPONSES - number))
    draft_id = _changed(account_id, agent, now)
    return LongData(f"/drafts/{draft_id}", f"/forms/{form.id}", f"/r/{form.share_token}")


def _changed(account_id: str, agent: str, now: datetime) -> str:
    """A draft that its creator saw before an agent changed every question of it."""
    draft = write(account_id, content(TITLES[0]), agent, now - timedelta(hours=2))
    revisions.mark_seen(account_id, draft.id, 1, now=now - timedelta(hours=1))
    kept = [question["id"] for question in draft.questions]
    asked = [{"id": kept[0], "text": LATIN}, *({"id": one, "text": UNBROKEN} for one in kept[1:])]
    changes = parse_draft_input({"questions": asked})
    editing.update_draft(account_id, draft.id, changes, author=agent, now=now)
    return draft.id


RESPONDENT = [ExamplePage("question", at("{data.asks}"))]
CREATOR = [
    ExamplePage(name, at(path))
    for name, path in {
        "inbox": "/drafts",
        "review": "{data.draft}",
        "review-question": "{data.draft}/questions/20/edit",
        "try": "{data.draft}/try",
        "confirm": "{data.draft}/confirm",
        "history": "{data.draft}/history",
        "forms": "/forms",
        "trash": "/forms/trash",
        "share": "{data.form}/share",
        "results": "{data.form}",
        "results-people": "{data.form}/people",
        "results-settings": "{data.form}/settings",
        "form-delete": "{data.form}/delete",
        "connections": "/connections",
    }.items()
]
LONG = [
    *(replace(one, name=f"long-{one.name}") for one in RESPONDENT),
    *(replace(one, name=f"long-{one.name}", signed_in=True) for one in CREATOR),
]
