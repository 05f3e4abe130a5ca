"""Rules for every template."""

from pathlib import Path

import pytest
from flask import Flask
from jinja2 import meta, nodes

from webapp.pages.errors import OF_FAULTS

TEMPLATES = Path(__file__).parents[2] / "templates"
NAMES = sorted(str(path.relative_to(TEMPLATES)) for path in TEMPLATES.rglob("*.html"))
LINE_MOST = 160
MESSAGES = {"_": 1, "gettext": 1, "ngettext": 2}  # how many arguments are messages


def test_no_line_is_too_long() -> None:
    lines = (
        (name, number, len(line))
        for name in NAMES
        for number, line in enumerate((TEMPLATES / name).read_text().splitlines(), start=1)
    )

    assert [each for each in lines if each[2] > LINE_MOST] == []


@pytest.mark.parametrize("layout", ["creator", "public"])
def test_a_layout_imports_nothing_from_respondent_templates(layout: str) -> None:
    assert '"respondent/' not in (TEMPLATES / "base" / f"{layout}.html").read_text()


def test_every_imported_macro_is_used(app: Flask) -> None:
    found = {name: unused_imports(app, (TEMPLATES / name).read_text()) for name in NAMES}

    assert {name: unused for name, unused in found.items() if unused} == {}


def unused_imports(app: Flask, source: str) -> set[str]:
    tree = app.jinja_env.parse(source)
    named = [name for part in tree.find_all(nodes.FromImport) for name in part.names]
    imported = {name if isinstance(name, str) else name[1] for name in named}
    return imported - {use.name for use in tree.find_all(nodes.Name)}


def test_pages_of_faults_are_loaded_with_all_their_parts(app: Flask) -> None:
    parsed = [app.jinja_env.parse((TEMPLATES / name).read_text()) for name in OF_FAULTS]

    needed = {name for tree in parsed for name in meta.find_referenced_templates(tree) if name}

    assert needed <= set(OF_FAULTS)


def test_only_literals_are_translated(app: Flask) -> None:
    """Gettext takes its message for a format string and for safe markup."""
    found = {name: variables_translated(app, (TEMPLATES / name).read_text()) for name in NAMES}

    assert found
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    "source",
    [
        "{{ _(refusal.message) }}",
        "{{ gettext(message) }}",
        "{{ ngettext('%(num)s form', plural, 2) }}",
        "{{ _('a' ~ name) }}",
        "{{ message|gettext }}",
        "{% call _(message) %}{% endcall %}",
        "{% set say = _ %}{{ say(message) }}",
    ],
)
def test_a_translated_variable_is_found(app: Flask, source: str) -> None:
    assert variables_translated(app, source)


def variables_translated(app: Flask, source: str) -> list[int]:
    """The lines on which something else than a literal is, or may be, translated."""
    tree = app.jinja_env.parse(source)
    called = {id(call.node): call for call in tree.find_all(nodes.Call)}
    found = [use.lineno for use in tree.find_all(nodes.Filter) if use.name in MESSAGES]
    for use in tree.find_all(nodes.Name):
        if use.name not in MESSAGES:
            continue
        call = called.get(id(use))
        messages = call.args[: MESSAGES[use.name]] if call else []
        if not messages or not all(_is_literal(message) for message in messages):
            found.append(use.lineno)
    return found


def _is_literal(message: nodes.Expr) -> bool:
    return isinstance(message, nodes.Const) and isinstance(message.value, str)
