"""The words that a follow-up question goes back to."""

import pytest

from webapp.pages.filters import EXCERPT_CHARS, excerpt

GAP = "\n" * 5 * EXCERPT_CHARS


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("It was\n slow ", "It was slow"),
        ("a" * EXCERPT_CHARS, "a" * EXCERPT_CHARS),
        (f"one two {'a' * (EXCERPT_CHARS - 4)}", f"… {'a' * (EXCERPT_CHARS - 4)}"),
        ("a" * 2000, f"…\N{WORD JOINER}{'a' * EXCERPT_CHARS}"),
        (f"It was slow{GAP}and loud", "… and loud"),
        (f"{GAP}It was slow{GAP}", "It was slow"),
    ],
    ids=["short", "as long as can be", "cut", "one long word", "a gap", "a gap around it"],
)
def test_the_end_of_an_answer_in_one_line(text: str, shown: str) -> None:
    assert excerpt(text) == shown
