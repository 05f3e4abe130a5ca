"""What lies in the data folder is for its owner alone."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from webapp.app.cli import main
from webapp.base import data_folder
from webapp.base.data_folder import DATABASE, make_private


def mode(path: Path) -> int:
    return path.lstat().st_mode & 0o7777


@pytest.fixture
def exposed(tmp_path: Path) -> Path:
    """A folder of an earlier version, open to everybody."""
    folder = tmp_path / "data"
    folder.mkdir()
    for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm", "secrets.json", "server.lock"):
        (folder / name).touch()
        (folder / name).chmod(0o644)
    (folder / "recordings").mkdir(mode=0o755)
    folder.chmod(0o755)
    return folder


def test_permissions_of_everything_in_it_are_restricted_and_reported(exposed: Path) -> None:
    lines = list(make_private(exposed))

    assert mode(exposed) == 0o700
    modes = {path.name: mode(path) for path in exposed.iterdir()}
    assert (modes.pop("recordings"), {*modes.values()}) == (0o700, {0o600})
    assert len(lines) == 7
    assert all(line.endswith("could be read by others, and was closed to them") for line in lines)
    assert list(make_private(exposed)) == []


def test_links_and_files_of_others_are_left_alone(exposed: Path, tmp_path: Path) -> None:
    elsewhere, link = tmp_path / "elsewhere", exposed / f"{DATABASE}.before-restore-1"
    elsewhere.touch()
    elsewhere.chmod(0o644)
    link.symlink_to(elsewhere)
    (exposed / "notes.txt").touch()
    (exposed / "notes.txt").chmod(0o644)

    list(make_private(exposed))

    assert (mode(elsewhere), mode(exposed / "notes.txt")) == (0o644, 0o644)


def test_files_of_other_owners_are_left_alone_and_reported(
    exposed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_folder.os, "geteuid", lambda: os.getuid() + 1)

    assert all("is not Askback's alone" in line for line in make_private(exposed))
    assert mode(exposed) == 0o755
    (exposed / "secrets.json").unlink()  # it is empty
    examined = CliRunner(env={"ASKBACK_DATA": str(exposed)}).invoke(main, ["doctor"])
    assert f"!!  data folder {exposed}: others can read or own {exposed}" in examined.stdout
