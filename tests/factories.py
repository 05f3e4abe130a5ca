"""Rows that are valid by default: spell out only what matters. All need an application context."""

import secrets
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from flask import current_app
from sqlalchemy import or_, select

from webapp.answers import answering
from webapp.answers.answering import NewAnswer, Signs, store_answer
from webapp.answers.session import read_open_session
from webapp.base.database import db, new_id, utc_now
from webapp.base.text import token_hash
from webapp.base.vocabulary import FollowUpAuthor, FollowUpCondition, FollowUpState
from webapp.drafts import editing, publishing
from webapp.follow_ups.rules import Reason, Technique
from webapp.records.accounts.models import Account
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.content.model import PreparedFollowUp
from webapp.records.drafts import Draft
from webapp.records.follow_ups import FollowUp
from webapp.records.responses.models import Answer, ResponseSession

_latest = [datetime.min.replace(tzinfo=UTC)]


def next_moment() -> datetime:
    """A moment later than all before: lists go by moments, and by chance within one.

    A moment is a millisecond, or a step of a coarser clock.
    """
    while (now := utc_now()) <= _latest[0]:
        time.sleep(0.001)
    _latest[0] = now
    return now


def make_account(**changed: Any) -> Account:
    """A committed account with a unique address and no usable password."""
    values: dict[str, Any] = {
        "id": new_id("acc"),
        "email": f"{secrets.token_hex(4)}@example.com",
        "name": "Robin Example",
        "password_hash": "!",
        "created_at": utc_now(),
    }
    account = Account(**values | changed)
    db.session.add(account)
    db.session.commit()
    return account


Prepared = Mapping[int, Sequence[tuple[str, str]]]


def make_draft(account_id: str, *, prepared: Prepared | None = None, **fields: Any) -> Draft:
    """A draft of two questions; `fields` are those of FormDraftInput.

    prepared  by position: follow-ups as pairs of text and condition, by the agent
    """
    values = {"title": "Rota", "questions": ["Who changed it?", "What went wrong?"]}
    changes = parse_draft_input(values | fields)
    for position, follow_ups in (prepared or {}).items():
        changes["questions"][position]["follow_ups"] = [
            PreparedFollowUp(
                text=text,
                condition=FollowUpCondition(condition),
                prepared_by=FollowUpAuthor.AGENT,
            )
            for text, condition in follow_ups
        ]
    return editing.create_draft(account_id, changes, author=None, now=next_moment())


def prepare(draft: Draft, *follow_ups: list[tuple[str, str]], by: str = "agent") -> Draft:
    """The draft with these follow-ups, as text and condition, to its questions in their order."""
    rows: list[Any] = list(draft.questions)
    rows[: len(follow_ups)] = [
        row | {"follow_ups": [{"text": t, "condition": c, "prepared_by": by} for t, c in given]}
        if given
        else row
        for row, given in zip(rows, follow_ups, strict=False)
    ]
    return editing.update_draft(
        draft.account_id, draft.id, {"questions": rows}, author=None, now=utc_now()
    )


def make_form(account_id: str, **fields: Any) -> Any:
    """A published form as a row of its columns."""
    draft = make_draft(account_id, **fields)
    return publishing.confirm_and_publish(
        account_id,
        draft.id,
        revision=draft.revision,
        shown_hash=draft.content_hash,
        now=next_moment(),
    ).form


def make_answer(
    form: Any,
    session_key: str,
    position: int = 0,
    text: str = "Me",
    *,
    recording_id: str = "",
    signs: Signs | None = None,
) -> None:
    """An answer to one question, in the session of this key."""
    answering.answer_question(
        form.share_token,
        session_key,
        position=position,
        answer_text=text,
        answer_key=secrets.token_urlsafe(16),
        now=next_moment(),
        recording_id=recording_id,
        signs=signs,
    )


def make_response(form: Any, session_key: str = "", name: str = "") -> str:
    """A completed response with one answer; returns its session key."""
    key = session_key or secrets.token_urlsafe(24)
    make_answer(form, key)
    answering.complete_response(form.share_token, key, responder_name=name, now=next_moment())
    return key


def make_follow_up(form: Any, session_key: str, position: int = 0, **changed: Any) -> FollowUp:
    """A question asked because of the newest answer of a session to a scripted question; the
    caller commits.
    """
    parent = form.questions[position]["id"]
    answer = db.session.scalars(
        select(Answer)
        .join(ResponseSession, ResponseSession.id == Answer.session_id)
        .where(
            ResponseSession.key_hash == token_hash(session_key),
            or_(Answer.question_id == parent, Answer.parent_question_id == parent),
        )
        .order_by(Answer.stamp.desc())
        .limit(1)
    ).one()
    values: dict[str, Any] = {
        "id": new_id("q"),
        "form_id": form.id,
        "session_id": answer.session_id,
        "parent_question_id": parent,
        "answer_id": answer.id,
        "state": FollowUpState.ASKED,
        "depth": 1,
        "question_text": "What happened as a result?",
        "technique": Technique.IMPACT,
        "reason": Reason.DEEPER,
        "writer": "",
        "created_at": utc_now(),
    }
    made = FollowUp(**values | changed)
    db.session.add(made)
    return made


def limit_form_bytes(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    """The setting, in the current application."""
    changed = current_app.config["SETTINGS"].model_copy(update={"limit_form_bytes": most})
    monkeypatch.setitem(current_app.config, "SETTINGS", changed)


def make_follow_up_answer(form: Any, session_key: str, asked: FollowUp, text: str = "Yes") -> None:
    """An answer to a question that was asked of this session; what is pending is committed."""
    answer = NewAnswer(
        asked.id,
        asked.question_text,
        text,
        secrets.token_urlsafe(16),
        parent_question_id=asked.parent_question_id,
    )
    db.session.commit()
    store_answer(read_open_session(form.share_token, session_key), answer, now=utc_now())
