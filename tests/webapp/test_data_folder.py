"""The data folder is for its owner alone."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from webapp.app.cli import main
from webapp.base import data_folder
from webapp.base.data_folder import make_private


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


def test_a_folder_that_is_open_is_closed_and_reported_once(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)

    assert make_private(tmp_path).endswith("could be read by others, and was closed to them")
    assert mode(tmp_path) == 0o700
    assert make_private(tmp_path) == ""


@pytest.mark.parametrize("of_others", [True, False])
def test_a_folder_of_others_or_shared_is_left_alone_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, of_others: bool
) -> None:
    tmp_path.chmod(0o700 if of_others else 0o1777)
    before = mode(tmp_path)
    if of_others:
        monkeypatch.setattr(data_folder.os, "geteuid", lambda: os.getuid() + 1)

    assert "is not Askback's alone" in make_private(tmp_path)
    assert mode(tmp_path) == before
    examined = CliRunner(env={"ASKBACK_DATA": str(tmp_path)}).invoke(main, ["doctor"])
    assert f"!!  data folder {tmp_path}: others can read or own it" in examined.stdout
