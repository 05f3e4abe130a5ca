"""`make test` and `make slow` run each test once between them, and `.ci/run` runs both."""

import re

import pytest

from tests.command import ROOT
from tests.conftest import SLOW

MAKEFILE = (ROOT / "Makefile").read_text()


def test_between_them_every_test_is_run_once() -> None:
    recipe = r'^(test|slow):.*\n\t\$\(PYTEST\) -m "\$\(SHORT\) and (.+)"$'
    chosen = dict(re.findall(recipe, MAKEFILE, re.M))

    assert chosen == {"test": "not slow", "slow": "slow"}


def test_ci_runs_both() -> None:
    commands = (ROOT / ".ci" / "run").read_text().splitlines()

    assert {"make check", "make test", "make slow"} <= set(commands)


@pytest.mark.parametrize("path", SLOW)
def test_what_is_slow_exists(path: str) -> None:
    assert [*ROOT.glob(f"{path}*")]
