"""`askback sign-in`, `ask` and `wait` as an agent starts them, by a user with own folders."""

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_urlsafe
from typing import IO, Any

from sqlalchemy import func, select

from tests.agent_cli.site import Site
from tests.command import PROGRAM, start
from tests.factories import make_answer
from tests.services import wait_until
from webapp.answers.answering import complete_response
from webapp.answers.trash import delete_form, discard_drafts
from webapp.base.database import db, utc_now
from webapp.drafts import confirmations, publishing, reviews
from webapp.records.drafts import Draft
from webapp.records.forms import Form
from webapp.web.wakeups import wakeups

ASK = ("ask", "Rota", "Who changed it?", "What went wrong?")


class Command:
    """A command that runs, or has ended; its lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._lines: dict[str, list[str]] = {"out": [], "said": []}
        pipes = {"out": process.stdout, "said": process.stderr}
        self._threads = [
            threading.Thread(target=self._read, args=(name, pipe)) for name, pipe in pipes.items()
        ]
        for thread in self._threads:
            thread.start()

    def _read(self, name: str, pipe: IO[str] | None) -> None:
        assert pipe is not None
        with pipe:
            for line in pipe:
                self._lines[name].append(line)

    @property
    def printed(self) -> str:
        return "".join(self._lines["out"])

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._lines["out"]]

    @property
    def kinds(self) -> list[str]:
        return [event["event"] for event in self.events]

    @property
    def said(self) -> str:
        return "".join(self._lines["said"])

    def event(self, kind: str) -> dict[str, Any]:
        """The first event of this kind, waited for."""
        wait_until(lambda: kind in self.kinds or self.process.poll() is not None, kind)
        return next(event for event in self.events if event["event"] == kind)

    def said_line(self, beginning: str) -> str:
        """The line of standard error that begins so, waited for."""
        wait_until(lambda: any(self._found(beginning)), beginning)
        return self._found(beginning)[0]

    def _found(self, beginning: str) -> list[str]:
        lines = [line.strip() for line in self._lines["said"]]
        return [line for line in lines if line.startswith(beginning)]

    def type(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def end(self, seconds: float = 30) -> "Command":
        """Wait for the end; a crash is never one."""
        self.process.wait(seconds)
        for thread in self._threads:
            thread.join()
        if self.process.stdin is not None:
            self.process.stdin.close()
        assert "Traceback" not in self.said, self.said
        return self

    def send(self, number: signal.Signals) -> "Command":
        self.process.send_signal(number)
        return self.end()

    @property
    def code(self) -> int:
        return int(self.process.returncode)


@dataclass
class User:
    """Somebody with a home folder, in front of an installation with one creator."""

    running: Site
    home: Path
    commands: list[Command] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    program: Sequence[str] = tuple(PROGRAM)

    def start(self, *arguments: str, **variables: str) -> Command:
        own = {"HOME": str(self.home), "ASKBACK_URL": self.running.origin}
        changed = own | self.variables | variables
        command = Command(start(*arguments, program=self.program, **changed))
        self.commands.append(command)
        return command

    def run(self, *arguments: str, typed: str = "", **variables: str) -> Command:
        command = self.start(*arguments, **variables)
        command.type(typed)
        assert command.process.stdin is not None
        command.process.stdin.close()
        return command.end()

    def sign_in(self, *arguments: str, **form: Any) -> Command:
        """Without a browser on this computer: the address it ended at is pasted."""
        command = self.start("sign-in", "--no-browser", *arguments)
        command.type(f"{self.running.person().allow(command.said_line('http'), **form)}\n")
        return command.end()

    def confirm(self) -> None:
        self._decide(confirmations.confirm_draft, "revision", "shown_hash")

    def publish(self) -> None:
        self._decide(publishing.confirm_and_publish, "revision", "shown_hash")

    def send_back(self, note: str | None) -> None:
        self._decide(reviews.return_draft, "revision", note=note)

    def keep(self) -> None:
        self._decide(reviews.keep_draft)

    def discard(self, note: str) -> None:
        def decide(account_id: str, draft_id: str, **said: Any) -> None:
            discard_drafts(account_id, [draft_id], **said)

        self._decide(decide, note=note)

    def _decide(self, decide: Callable[..., object], *seen: str, **said: Any) -> None:
        """Let the creator decide about the newest draft, by what was `seen` of it."""
        with self.running.app.app_context():
            draft = db.session.scalars(_newest(Draft)).one()
            shown = {"revision": draft.revision, "shown_hash": draft.content_hash}
            said |= {name: shown[name] for name in seen}
            decide(draft.account_id, draft.id, **said, now=utc_now())
            wakeups().notify(draft.id)

    def answered(self, *arguments: str) -> Command:
        """A command whose draft was confirmed and whose form was answered."""
        command = self.start(*arguments)
        command.event("draft")
        self.confirm()
        command.event("published")
        self.respond()
        return command

    def delete(self) -> None:
        with self.running.app.app_context():
            form = db.session.scalars(select(Form)).one()
            delete_form(form.account_id, form.id, now=utc_now())

    def respond(self, name: str = "Mira", text: str = "Me") -> None:
        """A response with one answer to the newest form."""
        key = token_urlsafe(24)
        with self.running.app.app_context():
            form = db.session.scalars(_newest(Form)).one()
            make_answer(form, key, text=text)
            complete_response(form.share_token, key, responder_name=name, now=utc_now())

    def count(self, model: type[Draft] | type[Form]) -> int:
        with self.running.app.app_context():
            return db.session.scalar(select(func.count()).select_from(model)) or 0

    def close(self) -> None:
        for command in self.commands:
            command.process.kill()
            command.end()


def _newest(model: Any) -> Any:
    stamp = model.created_at if model is Draft else model.published_at
    return select(model).order_by(stamp.desc()).limit(1)
