"""Styles name sides by the direction of writing, so that each page mirrors itself."""

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
QUERY = re.compile(r"@(media|container)[^{]*")  # a window and a container are asked by their width


@pytest.mark.parametrize("file", sorted(CSS.rglob("*.css")), ids=lambda file: file.name)
def test_no_style_speaks_of_left_or_right(file: Path) -> None:
    lines = QUERY.sub("", file.read_text()).splitlines()

    assert [line for line in lines if SIDES.search(line)] == []


@pytest.mark.parametrize("wrong", ["margin-left: 1px", "left:0", "max-width: 3rem", "float: right"])
def test_what_does_not_mirror_itself_is_found(wrong: str) -> None:
    assert SIDES.search(f".part {{ {wrong}; }}")


@pytest.mark.parametrize("right", ["margin-inline: 0", "border-inline-start: 0", "--left: 1px"])
def test_what_mirrors_itself_is_fine(right: str) -> None:
    assert not SIDES.search(f".part {{ {right}; }}")
