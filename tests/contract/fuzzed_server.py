"""The program that schemathesis runs against: `python -m tests.contract.fuzzed_server FOLDER PORT`.

The real server and one account with a form, its responses and a confirmed draft. Limits are off
and nobody may wait, so that a thousand requests are answered in seconds. Prints an access token and
an agent token.
"""

import sys
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from flask import Flask

from tests.factories import make_account, make_draft, make_form, make_response
from tests.tls import certified
from tests.webhook_receiver import HOST, webhook_receiver
from webapp.app.factory import create_app
from webapp.app.server import Server
from webapp.base.config_environment import read_settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.drafts import confirmations
from webapp.drafts.agent_tokens import make_agent_token
from webapp.oauth.tokens import issue_token
from webapp.web.wakeups import Wakeups


def main(folder: str, port: str) -> None:
    environment = {"ASKBACK_DATA": folder, "PORT": port, "WRITE_LIMITS": "off"}
    environment["PUBLISH_CONFIRMATION"] = "agent"  # so that chains of calls reach the form
    settings = read_settings(environment)
    app = create_app(settings)
    app.extensions["wakeups"] = Wakeups(most=0)
    tokens = filled(app, settings.api_url)
    server = Server(app, settings)
    server.stop_on_signals()
    print(*tokens, flush=True)
    with TemporaryDirectory() as place, webhook_receiver(certified(Path(place), HOST)):
        server.run()


def filled(app: Flask, api_url: str) -> tuple[str, str]:
    """Make the tables and rows; returns the tokens."""
    with app.app_context():
        Path(db.engine.url.database or "").parent.mkdir(parents=True, exist_ok=True)
        db.create_all()
        account = make_account()
        form = make_form(account.id)
        make_response(form)
        draft = make_draft(account.id)
        confirmations.confirm_draft(
            account.id, draft.id, revision=1, shown_hash=draft.content_hash, now=utc_now()
        )
        now, ends = utc_now(), utc_now() + timedelta(hours=1)
        token = issue_token(account.id, tuple(Scope), api_url, now=now)
        made = make_agent_token(account.id, None, label="", expires_at=ends, now=now)
        return token, made.token


if __name__ == "__main__":
    main(*sys.argv[1:])
