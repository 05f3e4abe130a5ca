"""README, documents and docstrings agree with the code."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.command import ROOT
from webapp.cli import main

README = (ROOT / "README.md").read_text()
DOCUMENTS = {path.stem: path.read_text() for path in (ROOT / "templates/docs").glob("*.md")}
WRITTEN = {"README": README} | DOCUMENTS
SOURCES = sorted(
    path
    for package in ("webapp", "api", "jobs")
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)
TARGETS = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
OPERATION_TESTS = {
    "createServiceDraft": "test_create_draft.py",
    "updateServiceDraft": "test_update_draft.py",
    "publishServiceDraft": "test_publish_draft.py",
    "getServiceDraft": "drafts/test_read_draft.py",
    "getServiceDraftReview": "drafts/test_review.py",
    "listService": "test_list_forms.py",
    "getService": "test_get_form.py",
    "getServiceResponses": "test_get_responses.py",
}
PICTURE_MAX_BYTES = 150_000
README_MAX_LINES = 150


def test_every_operation_of_the_document_has_a_test_file() -> None:
    described = set(
        re.findall(r"\w+Service\w*", (ROOT / "api" / "openapi" / "operations.py").read_text())
    )

    assert set(OPERATION_TESTS) <= described
    missing = [
        name for name in OPERATION_TESTS.values() if not (ROOT / "tests/api" / name).exists()
    ]
    assert missing == []


def test_modules_public_functions_and_classes_have_docstrings() -> None:
    missing = {str(source.relative_to(ROOT)): list(undescribed(source)) for source in SOURCES}

    assert missing
    assert {name: parts for name, parts in missing.items() if parts} == {}


def undescribed(source: Path) -> Iterator[str]:
    """Public functions of the module itself; methods say it by their class and name."""
    module = ast.parse(source.read_text())
    if module.body and not ast.get_docstring(module):
        yield "the module"
    for part in module.body:
        public = isinstance(part, ast.FunctionDef | ast.ClassDef) and not part.name.startswith("_")
        if public and not ast.get_docstring(part):
            yield part.name


@pytest.mark.parametrize("name", WRITTEN)
def test_only_commands_that_exist_are_named(name: str) -> None:
    named = re.findall(r"(?:bin/|`)askback ([a-z-]+)(?: ([a-z]+))?", WRITTEN[name])

    assert isinstance(main, click.Group)
    for command, below in named:
        found = main.commands[command]
        assert not below or not isinstance(found, click.Group) or below in found.commands


@pytest.mark.parametrize("name", WRITTEN)
def test_only_options_that_exist_are_named(name: str) -> None:
    for command, options in re.findall(r"`askback ([a-z -]+?) (\[?--[^`]+)`", WRITTEN[name]):
        assert isinstance(main, click.Group)
        found: click.Command = main
        for part in command.split():
            assert isinstance(found, click.Group)
            found = found.commands[part]
        known = {option for parameter in found.params for option in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", options)) <= known


@pytest.mark.parametrize("name", WRITTEN)
def test_only_targets_of_make_that_exist_are_named(name: str) -> None:
    named = set(re.findall(r"`make ([a-z]+)`|^make ([a-z]+)", WRITTEN[name], re.M))

    assert {first or second for first, second in named} <= set(TARGETS)


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= README_MAX_LINES


def test_readme_names_every_target_of_make() -> None:
    named = set(re.findall(r"make ([a-z]+)", README))

    assert set(TARGETS) - named - {"format"} == set()
    assert {"run", "test"} <= set(TARGETS)


@pytest.mark.parametrize("name", re.findall(r"\]\((?!http)([^)#]+)\)", README))
def test_readme_points_only_at_files_that_exist(name: str) -> None:
    assert (ROOT / name).exists()


@pytest.mark.parametrize("picture", sorted((ROOT / "static" / "pictures").glob("*")), ids=str)
def test_a_picture_in_the_repository_is_small(picture: Path) -> None:
    assert picture.suffix == ".png"
    assert picture.stat().st_size < PICTURE_MAX_BYTES


def test_the_changelog_says_what_comes_next() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text()

    assert "## [Unreleased]" in changes
    assert re.search(r"^### (Added|Changed|Fixed)$", changes, re.M)
