"""The paths of the architecture document exist."""

import re

from tests.command import ROOT

PAGE = (ROOT / "templates/docs/architecture.md").read_text()


def test_every_path_on_the_page_exists() -> None:
    named = re.findall(r"`((?:\w+/)*\w+\.\w+|(?:webapp|api)/[\w/]+)`", PAGE)

    assert named
    assert [path for path in named if "/" in path and not (ROOT / path).exists()] == []
