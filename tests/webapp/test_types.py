"""Forms, drafts, sessions and answers are passed as types that mypy checks, never as `Any`."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("webapp/domain", "webapp/wire", "webapp/pages", "api")
JSON_SCHEMA = "api/openapi"  # its objects are described by other specifications


def test_no_signature_hides_a_type_behind_any() -> None:
    hidden = [
        f"{path.relative_to(ROOT)}:{line}"
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if not path.is_relative_to(ROOT / JSON_SCHEMA)
        for line in uses_of_any(path.read_text(), for_templates=package == "webapp/pages")
    ]

    assert hidden == []


@pytest.mark.parametrize(
    "code",
    [
        "def f(form: Any): ...",
        "def f(form: Row[Any]): ...",
        "def f() -> list[Row[Any]]: ...",
        "def f(form: typing.Any): ...",
        "def f(**form: Row[Any]): ...",
        "Rows = Sequence[Any]",
        "class C:\n    form: Any",
    ],
)
def test_any_is_found(code: str) -> None:
    assert list(uses_of_any(code, for_templates=True))


@pytest.mark.parametrize("code", ["def f(**context: Any): ...", "def f() -> dict[str, Any]: ..."])
def test_what_goes_into_a_template_may_be_anything(code: str) -> None:
    assert not list(uses_of_any(code, for_templates=True))
    assert list(uses_of_any(code, for_templates=False))


def uses_of_any(code: str, *, for_templates: bool) -> Iterator[int]:
    """The lines that say `Any` other than in an import."""
    tree = ast.parse(code)
    allowed = set(template_values(tree)) if for_templates else set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name | ast.Attribute) and node not in allowed:
            name = node.id if isinstance(node, ast.Name) else node.attr
            if name == "Any":
                yield node.lineno


def template_values(tree: ast.Module) -> Iterator[ast.AST]:
    """The `Any` of each `**context: Any` and `dict[str, Any]`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arguments) and node.kwarg and node.kwarg.annotation:
            yield node.kwarg.annotation
        if isinstance(node, ast.Subscript) and ast.unparse(node) == "dict[str, Any]":
            yield from ast.walk(node.slice)
