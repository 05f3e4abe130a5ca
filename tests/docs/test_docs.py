"""README, documents and docstrings agree with the code."""

import re

import click
import pytest

from tests.command import ROOT
from webapp.app.cli import main

README = (ROOT / "README.md").read_text()
DOCUMENTS = {path.stem: path.read_text() for path in (ROOT / "templates/docs").glob("*.md")}
WRITTEN = {"README": README} | DOCUMENTS
TARGETS = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)


@pytest.mark.parametrize("name", WRITTEN)
def test_only_commands_options_and_targets_of_make_that_exist_are_named(name: str) -> None:
    text = WRITTEN[name]
    named = re.findall(r"(?:bin/|`)askback ([a-z-]+)(?: ([a-z]+))?", text)
    with_options = re.findall(r"`askback ([a-z -]+?) (\[?--[^`]+)`", text)
    targets = re.findall(r"(?:`|^)make ([a-z]+)", text, re.M)

    assert isinstance(main, click.Group)
    for command, below in named:
        found = main.commands[command]
        assert not below or not isinstance(found, click.Group) or below in found.commands
    for command, options in with_options:
        found = main
        for part in command.split():
            assert isinstance(found, click.Group)
            found = found.commands[part]
        known = {option for parameter in found.params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", options)) <= known
    assert {*targets} <= {*TARGETS}


def test_readme_points_only_at_files_that_exist() -> None:
    named = re.findall(r"\]\((?!http)([^)#]+)\)", README)

    assert [name for name in named if not (ROOT / name).exists()] == []


def test_every_path_in_the_architecture_exists() -> None:
    named = re.findall(r"`((?:\w+/)*\w+\.\w+|(?:webapp|api)/[\w/]+)`", DOCUMENTS["architecture"])

    assert named
    assert [path for path in named if "/" in path and not (ROOT / path).exists()] == []
