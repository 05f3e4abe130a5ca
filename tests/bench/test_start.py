"""One idle process beside the smallest application of its kind."""

import statistics
from pathlib import Path

import pytest

from tests.bench.figures import Table
from tests.bench.servers import start_cost
from webapp.base.config import Settings

pytestmark = pytest.mark.bench


def test_one_idle_process(settings: Settings, tmp_path: Path) -> None:
    """`askback run` as users start it, after a first start that made its tables."""
    database = f"sqlite:///{tmp_path}/own.sqlite3"
    own = settings.model_copy(update={"database_url": database, "data_folder": tmp_path})
    start_cost("webapp", "run", own)
    costs = [
        (start_cost("tests.bench.bare", "bare", own), start_cost("webapp", "run", own))
        for _ in range(5)
    ]
    starts = statistics.median(ours[0] / bare[0] for bare, ours in costs)
    memory = statistics.median(ours[1] / bare[1] for bare, ours in costs)
    (bare_seconds, bare_mib), (seconds, mib) = costs[-1]
    table = Table("SQLite")
    table.add("one process idle", f"{memory:.2f}×", "≤ 2×", f"{mib:.0f} MiB to {bare_mib:.0f} MiB")
    detail = f"{seconds:.2f} s to {bare_seconds:.2f} s"
    table.add("start to first answer", f"{starts:.2f}×", "≤ 3×", detail)
