"""What is written about the product is true of it."""

import ast
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tests.command import ROOT
from webapp.cli import main

README = (ROOT / "README.md").read_text()
SOURCES = sorted(
    path
    for package in ("webapp", "api", "jobs")
    for path in (ROOT / package).rglob("*.py")
    if "migrations" not in path.parts
)
OPERATION_TESTS = {
    "createServiceDraft": "test_create_draft.py",
    "updateServiceDraft": "test_update_draft.py",
    "publishServiceDraft": "test_publish_draft.py",
    "getServiceDraft": "test_read_draft.py",
    "listService": "test_list_forms.py",
    "getService": "test_get_form.py",
    "getServiceResponses": "test_get_responses.py",
}
PICTURE_MAX_BYTES = 150_000


def test_every_operation_of_the_document_has_a_test_file() -> None:
    described = set(
        re.findall(r"\w+Service\w*", (ROOT / "api" / "openapi" / "operations.py").read_text())
    )

    assert set(OPERATION_TESTS) <= described
    missing = [
        name for name in OPERATION_TESTS.values() if not (ROOT / "tests/api" / name).exists()
    ]
    assert missing == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_public_function_says_what_its_signature_cannot(source: Path) -> None:
    assert list(undescribed(source)) == []


def undescribed(source: Path) -> Iterator[str]:
    """Public functions of the module itself; methods say it by their class and name."""
    module = ast.parse(source.read_text())
    if module.body and not ast.get_docstring(module):
        yield "the module"
    for part in module.body:
        public = isinstance(part, ast.FunctionDef | ast.ClassDef) and not part.name.startswith("_")
        if public and not ast.get_docstring(part):
            yield part.name


def test_readme_names_only_commands_that_exist() -> None:
    named = set(re.findall(r"bin/askback ([a-z]+)|`askback ([a-z]+)", README))

    assert isinstance(main, click.Group)
    assert {first or second for first, second in named} - set(main.commands) == set()


def test_readme_names_every_target_of_make() -> None:
    targets = set(re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
    named = set(re.findall(r"make ([a-z]+)", README))

    assert targets - named - {"format"} == set()
    assert {"run", "test"} <= targets


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


def test_a_shell_reads_the_environment_file_of_readme(tmp_path: Path) -> None:
    file = tmp_path / "askback.env"
    written = re.search(r"```ini\n(PUBLIC_URL=.*?)```", README, re.DOTALL)
    assert written is not None
    file.write_text(written[1])

    sourced = subprocess.run(
        ["sh", "-euc", f". {file}; echo $OPERATOR_NAME"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (sourced.stdout, sourced.stderr) == ("Fernhill Ltd, 12 Mill Lane, York\n", "")
