"""A new key before the others seals everything anew, beside running servers."""

import secrets
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from tests.databases import both_databases
from tests.event_factories import make_subscription
from tests.factories import make_account, make_form
from webapp.app.cli import main
from webapp.app.factory import create_app
from webapp.base.config_environment import read_settings
from webapp.base.database import db
from webapp.base.sealing import Sealer
from webapp.events.subscriptions import count_sealed_otherwise, rekey, secret_place
from webapp.records.events import EventSubscription

OLD, NEW, LOST = ({name: secrets.token_bytes(32)} for name in ("k_1", "k2", "k0"))
BOTH = Sealer(NEW | OLD)
NEEDS = "1 secrets need a key that is not there"


def sealed_rows(keys: dict[str, bytes], count: int, *, rotated: bool = False) -> list[str]:
    form = make_form(make_account().id)
    made = []
    for _ in range(count):
        key = f"sub_{secrets.token_hex(16)}"
        sealed = Sealer(keys).seal(key, place=secret_place(key))
        changed: dict[str, Any] = {"previous_secret": sealed} if rotated else {}
        make_subscription(form, id=key, secret=sealed, **changed)
        made.append(key)
    return made


def opened(ids: Iterable[str], keys: dict[str, bytes]) -> list[str]:
    db.session.expire_all()
    rows = [db.session.get_one(EventSubscription, key) for key in ids]
    return [Sealer(keys).unseal(row.secret or "", place=secret_place(row.id)) for row in rows]


@both_databases
@pytest.mark.usefixtures("app_context")
def test_others_are_left_and_counted() -> None:
    done, left, lost = sealed_rows(NEW, 1), sealed_rows(OLD, 2, rotated=True), sealed_rows(LOST, 1)
    sealed_rows({"kx1": secrets.token_bytes(32)}, 1)  # an underscore matches itself alone
    make_subscription(make_form(make_account().id), secret=None, url=None)
    kept = db.session.get_one(EventSubscription, lost[0]).secret
    assert count_sealed_otherwise(["k2"]) == 6
    assert count_sealed_otherwise(["k2", "k_1"]) == 2

    assert rekey(BOTH) == (7, 4, 2)

    assert opened(done + left, NEW) == done + left
    assert db.session.get_one(EventSubscription, lost[0]).secret == kept
    assert count_sealed_otherwise(["k2"]) == 2


def test_the_command_and_the_doctor_tell_what_is_left(tmp_path: Path) -> None:
    environment = {"ASKBACK_DATA": str(tmp_path)}
    assert CliRunner(env=environment).invoke(main, ["migrate"]).exit_code == 0
    settings = read_settings(environment)
    app, own = create_app(settings), dict(settings.data_keys)
    with app.app_context():
        old = sealed_rows(own, 2)
        sealed_rows(LOST, 1)
    keys = ",".join(f"{name}:{b64encode(key).decode()}" for name, key in (NEW | own).items())
    origins = "http://10.0.0.7:5678,http://n8n.internal"
    changed = {"DATA_KEYS": keys, "MCP_EVENTS_CALLBACK_ALLOWLIST": origins}
    runner = CliRunner(env=environment | changed)

    before = runner.invoke(main, ["doctor"]).stdout
    done = runner.invoke(main, ["rekey"])
    after = runner.invoke(main, ["doctor"]).stdout

    said, need = f"!!  data keys: k2, {next(iter(own))}; k2 encrypts; ", NEEDS
    assert f"{said}2 secrets have to be encrypted anew: askback rekey; {need}" in before
    assert done.stdout == "3 secrets; 2 encrypted anew with the first key\n"
    assert "1 that none of DATA_KEYS opens" in done.stderr
    assert f"{said}{need}\n" in after
    assert "ok  events also go to: http://10.0.0.7:5678, http://n8n.internal\n" in after
    with app.app_context():
        assert opened(old, NEW) == old
        db.engine.dispose()
