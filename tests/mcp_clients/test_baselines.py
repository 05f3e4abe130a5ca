"""The baselines of the conformance suite as files; the suite itself runs among the proofs."""

import re
from pathlib import Path

import pytest


@pytest.mark.parametrize(
    "path", sorted(Path(__file__).parent.glob("conformance-*.yml")), ids=lambda path: path.stem
)
def test_every_entry_has_its_reason(path: Path) -> None:
    head, _, entries = path.read_text().partition("server:\n")
    lines = entries.splitlines()

    assert all(line.startswith("#") for line in head.splitlines() if line)
    assert lines[0].startswith("  # ")
    for line, following in zip(lines, [*lines[1:], "  # end"], strict=True):
        assert re.fullmatch(r"  # \w.+|  - [\w-]+:[\w-]+", line), line
        assert not (line.startswith("  # ") and following.startswith("  # ")), line
