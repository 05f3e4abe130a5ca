"""The page about agent tokens: its commands, pasted as they are written."""

import json
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from api.wire.event_stream import Stream
from tests.docs.terminal import Terminal, blocks_of, filled
from tests.factories import make_answer, make_draft, make_form, make_response
from tests.oauth.live import Installation
from tests.services import wait_until
from tests.voice.factories import make_spoken_answer, make_voice_form
from webapp.app import streams
from webapp.app.streams import Streams
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import agent_tokens, reviews
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.voice.audio_store import audio_store
from webapp.web.wakeups import wakeups


def test_the_commands_work_as_written(
    running: Installation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    making, polling, following, streaming, _, reviewing = blocks_of(running, "agents")
    with running.app.app_context():
        account_id = db.session.scalars(select(Account.id)).one()
        form = make_form(account_id)
        make_answer(form, "a" * 32, text='First, "nextSince":"2030-01-01T00:00:00.000Z"')
        access = issue_token(account_id, [*Scope], f"{running.origin}/api", now=utc_now())
    terminal = Terminal(tmp_path / "folder")

    making = filled(making, "frm_…", form.id)
    made = json.loads(terminal.paste(filled(making, "askat_…", access)))
    draft_id = sent_back(running, account_id)
    review = json.loads(terminal.paste(filled(reviewing, "drf_…", draft_id)))
    first = json.loads(terminal.paste(filled(polling, "askag_…", made["token"])))
    pages = follow(running, terminal, following, form, made["tokenId"])
    monkeypatch.setattr(streams, "LOOK_SECONDS", 0.1)
    kept = new_token(running, form)
    terminal.paste(f"AGENT_TOKEN={kept.token}")
    events = stream(running, terminal, streaming, form, kept.id, monkeypatch)
    terminal.close()

    assert (review["state"], review["note"]) == ("returned", "Shorter, please")
    assert [answer["answerText"][:5] for answer in first["answers"]] == ["First"]
    ids = [answer["id"] for page in pages for answer in page["answers"]]
    assert (len(ids), len(set(ids))) == (2, 2)
    assert len([done for page in pages for done in page["completed"]]) == 1
    told = [event["id"] for event in events if "answerText" in event]
    assert told[:2] == ids
    assert (len(told), len(set(told))) == (3, 3)
    assert [event["reason"] for event in events if "reason" in event] == ["time", "revoked"]
    assert len([event for event in events if "submittedAt" in event]) == 2


def new_token(running: Installation, form: Any) -> Any:
    now = utc_now()
    ends = {"expires_at": now + timedelta(1), "now": now}
    with running.app.app_context():
        return agent_tokens.make_agent_token(form.account_id, form.id, label="", **ends)


def sent_back(running: Installation, account_id: str) -> str:
    """A draft of the account."""
    with running.app.app_context():
        draft = make_draft(account_id)
        note = "Shorter, please"
        reviews.return_draft(account_id, draft.id, revision=1, note=note, now=utc_now())
        return draft.id


def follow(
    running: Installation, terminal: Terminal, block: str, form: Any, token_id: str
) -> list[Any]:
    """The pages that the loop prints until its token is revoked, while somebody answers."""
    waiting = running.app.extensions["wakeups"]
    with ThreadPoolExecutor(1) as pool, running.app.app_context():
        printing = pool.submit(terminal.paste, block)
        wait_until(lambda: waiting._held, "the second call waits")
        make_response(form)
        wakeups().notify(form.id)
        wait_until(lambda: not waiting._held, "it is answered")
        wait_until(lambda: waiting._held, "the next call waits")
        agent_tokens.revoke_agent_token(form.account_id, token_id, now=utc_now())
        printed = printing.result(20)
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def stream(
    running: Installation,
    terminal: Terminal,
    block: str,
    form: Any,
    token_id: str,
    monkeypatch: pytest.MonkeyPatch,
) -> list[Any]:
    """The events that the loop prints over two connections, while somebody answers."""
    opened: list[Stream] = []
    serve = Streams.serve

    async def serve_and_note(self: Streams, stream: Stream, *given: Any) -> None:
        monkeypatch.setattr(streams, "STREAM_SECONDS", 900 if opened else 0.5)
        opened.append(stream)
        await serve(self, stream, *given)

    monkeypatch.setattr(Streams, "serve", serve_and_note)
    with ThreadPoolExecutor(1) as pool, running.app.app_context():
        printing = pool.submit(terminal.paste, block)
        wait_until(lambda: len(opened) == 2, "connecting again")
        make_response(form)
        time.sleep(0.5)
        agent_tokens.revoke_agent_token(form.account_id, token_id, now=utc_now())
        printed = printing.result(20)
    return [json.loads(line) for line in printed.splitlines() if line.startswith("{")]


def test_a_recording_is_fetched_as_written(running: Installation, tmp_path: Path) -> None:
    (fetching,) = blocks_of(running, "agents", " Fetch a recording")
    spoken = tmp_path / "spoken"
    spoken.write_bytes(b"what somebody said" * 1000)
    with running.app.app_context():
        account_id = db.session.scalars(select(Account.id)).one()
        form = make_voice_form(account_id)
        recording = make_spoken_answer(form, "b" * 32, size=spoken.stat().st_size)
        audio_store().put(recording.object_key, spoken)
    token = new_token(running, form).token
    terminal = Terminal(tmp_path / "folder")
    terminal.paste(f"ASKBACK={running.origin} FORM={form.id} AGENT_TOKEN={token}")
    terminal.paste(filled(fetching, "att_…", recording.id))
    terminal.close()

    (fetched,) = tmp_path.rglob("recording-*.webm")
    assert fetched.read_bytes() == spoken.read_bytes()
