"""A restore that is killed leaves all of the old or all of the new, and the server starts on it."""

import random
import signal
import time
from pathlib import Path

import pytest
from sqlalchemy import insert

from tests.command import askback, askback_here, start
from tests.databases import empty_postgresql_first
from tests.proof.killing import Target
from tests.services import wait_until
from webapp.app.factory import create_app
from webapp.base.config import Settings
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


class Installation:
    """The variables of one database, with looks past the command line."""

    def __init__(self, database_url: str, folder: Path) -> None:
        self.variables = {"DATABASE_URL": database_url, "ASKBACK_DATA": str(folder)}
        self._app = create_app(
            Settings(
                public_url="http://127.0.0.1:8000",
                database_url=database_url,
                secret_key="only-for-tests-only-for-tests-only-for-tests",
                data_folder=folder,
            )
        )

    def fill(self, first: int, beyond: int) -> None:
        with self._app.app_context():
            schema.upgrade()
            rows = [_account(number) for number in range(first, beyond)]
            db.session.execute(insert(Account), rows)
            db.session.commit()
            db.engine.dispose()

    def counted(self) -> tuple[str | None, int]:
        """Why no server can work on it, and how many accounts there are."""
        with self._app.app_context():
            found = schema.refusal(), db.session.query(Account).count()
            db.session.remove()
            db.engine.dispose()
            return found

    def restoring_takes(self, backup: Path) -> float:
        began = time.monotonic()
        assert askback("restore", "--yes", str(backup), **self.variables).returncode == 0
        return time.monotonic() - began

    def restore_killed_after(self, seconds: float, backup: Path) -> bool:
        """Whether it was killed before its end."""
        restoring = start("restore", "--yes", str(backup), **self.variables)
        time.sleep(seconds)
        restoring.kill()
        restoring.communicate()
        return restoring.returncode == -signal.SIGKILL


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
    here = Installation(empty_database_url, tmp_path)
    old_file, new_file = tmp_path / "old", tmp_path / "new"
    here.fill(0, new)
    assert askback_here("backup", str(new_file), **here.variables).returncode == 0
    here.fill(new, old)
    assert askback_here("backup", str(old_file), **here.variables).returncode == 0
    seconds = here.restoring_takes(old_file)

    seen, killed = [], 0
    while killed < kills:
        moment = random.uniform(0.5, 1.1) * seconds  # noqa: S311
        in_time = here.restore_killed_after(moment, new_file)
        killed += in_time
        seconds *= 1.1 if in_time else 0.8  # a machine is calmer or busier than it was
        seen.append(here.counted())
        if seen[-1][1] == new:
            wait_until(lambda: _restored(here, old_file), "restoring after a kill")
    print(f"{killed} kills, new {seen.count((None, new))}, old {seen.count((None, old))} times")
    assert set(seen) <= {(None, new), (None, old)}
    with Target(here.variables).up():  # without a further command
        pass


def _restored(here: Installation, backup: Path) -> bool:
    """Again, until what a killed restore left behind has gone from the database."""
    return askback_here("restore", "--yes", str(backup), **here.variables).returncode == 0
