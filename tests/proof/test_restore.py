"""A restore that is killed leaves all of the old or all of the new, and the server starts on it."""

import random
import signal
import time
from pathlib import Path

import pytest
from sqlalchemy import insert

from tests.command import askback, start
from tests.databases import empty_postgresql_first
from tests.proof.killing import Target
from tests.runtime.installations import Installation
from tests.services import wait_until
from webapp.base.database import db, schema, utc_now
from webapp.records.accounts.models import Account

# new, old: accounts in the backup, and before
rounds = pytest.mark.parametrize(
    ("kills", "new", "old"),
    [
        pytest.param(1, 1_000, 1_500, marks=pytest.mark.timeout(600)),
        pytest.param(40, 30_000, 40_000, marks=pytest.mark.prove),
    ],
)


def fill(here: Installation, first: int, beyond: int) -> None:
    with here.database():
        schema.upgrade()
        db.session.execute(insert(Account), [_account(number) for number in range(first, beyond)])
        db.session.commit()


def counted(here: Installation) -> tuple[str | None, int]:
    """Why no server can work on it, and how many accounts there are."""
    with here.database():
        return schema.refusal(), db.session.query(Account).count()


def restore_killed_after(here: Installation, seconds: float, backup: Path) -> bool:
    """Whether it was killed before its end."""
    restoring = start("restore", "--yes", str(backup), **here.variables)
    time.sleep(seconds)
    restoring.kill()
    restoring.communicate()
    return restoring.returncode == -signal.SIGKILL


def restores(here: Installation, backup: Path) -> bool:
    return askback("restore", "--yes", str(backup), **here.variables).returncode == 0


def _account(number: int) -> dict[str, object]:
    return {
        "id": f"acc_{number}",
        "email": f"{number}@example.com",
        "name": "x" * 80,
        "password_hash": "!",
        "created_at": utc_now(),
    }


@empty_postgresql_first
@rounds
def test_a_killed_restore_leaves_one_whole_state(
    empty_database_url: str,
    tmp_path: Path,
    kills: int,
    new: int,
    old: int,
) -> None:
    here = Installation(tmp_path, empty_database_url)
    old_file, new_file = tmp_path / "old", tmp_path / "new"
    for file, first, beyond in ((new_file, 0, new), (old_file, new, old)):
        fill(here, first, beyond)
        assert here("backup", str(file)).exit_code == 0
    began = time.monotonic()
    assert restores(here, old_file)
    seconds = time.monotonic() - began

    seen, killed = [], 0
    while killed < kills:
        moment = random.uniform(0.5, 1.1) * seconds  # noqa: S311
        in_time = restore_killed_after(here, moment, new_file)
        killed += in_time
        seconds *= 1.1 if in_time else 0.8  # a machine is calmer or busier than it was
        seen.append(counted(here))
        if seen[-1][1] == new:  # until what a killed restore left behind has gone
            wait_until(lambda: restores(here, old_file), "restoring after a kill")
    print(f"{killed} kills, new {seen.count((None, new))}, old {seen.count((None, old))} times")
    assert set(seen) <= {(None, new), (None, old)}
    with Target(here.variables).up():  # without a further command
        pass
