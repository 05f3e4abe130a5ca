"""Styles use logical properties, so that a page in a right-to-left language is mirrored."""

import re
from pathlib import Path

import pytest

CSS = Path(__file__).parents[2] / "static" / "css"
SIDES = re.compile(
    r"""(?<![-\w])(
        (margin|padding|border|scroll-margin|scroll-padding)-(left|right|top|bottom)[-\w]*
        | border-(top|bottom)-(left|right)-radius
        | left | right | top | bottom
        | (min-|max-)?(width|height)
    )\s*: | (text-align|float|clear)\s*:\s*(left|right)\b""",
    re.VERBOSE,
)
QUERY = re.compile(r"@(media|container)[^{]*")  # media and container queries ask for the width


def test_styles_use_logical_properties() -> None:
    lines = [
        (str(file.relative_to(CSS)), line)
        for file in sorted(CSS.rglob("*.css"))
        for line in QUERY.sub("", file.read_text()).splitlines()
    ]

    assert lines
    assert [(file, line) for file, line in lines if SIDES.search(line)] == []


@pytest.mark.parametrize("wrong", ["margin-left: 1px", "left:0", "max-width: 3rem", "float: right"])
def test_a_physical_property_is_found(wrong: str) -> None:
    assert SIDES.search(f".part {{ {wrong}; }}")


@pytest.mark.parametrize("right", ["margin-inline: 0", "border-inline-start: 0", "--left: 1px"])
def test_a_logical_property_is_allowed(right: str) -> None:
    assert not SIDES.search(f".part {{ {right}; }}")
