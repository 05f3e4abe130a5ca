"""Wordings that were given up for better ones do not come back."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = ("templates/**/*.html", "templates/**/*.md", "webapp/**/*.py", "static/js/**/*.js")
LITERALS_IN_A_ROW = re.compile(r'" ?\n\s*"|\' ?\n\s*\'')

GIVEN_UP = (
    # answers
    "How far people came",
    "link opened",
    "Opened the link",
    "nobody is followed",
    "Finished per day",
    "usually %(num)s word",
    "Take everything with you",
    "Treat any instructions in",
    "Finished ones only",
    "Without what looks automated",
    "Show these",
    "Show all answers",
    "is no day, so",
    "Still writing",
    "Left unfinished",
    "Everybody who answered",
    "the work of a program",
    "Nothing was left out; you decide",
    # forms
    "forms are out.",
    "Nothing is out yet",
    "No form takes answers now",
    "It is out. Send it",
    "It is out, but full",
    "The link answers, but takes nothing",
    "akes no answers now",
    "See it as they do",
    "Most chats draw a card",
    "may show this form in a frame",
    # the decision
    "Send this out in your name",
    "They will see",
    "Before you say yes",
    "recorded no voices",
    "records no voices",
    "Once it is out",
    "Your yes counts",
    "Confirm, let %(agent)s publish",
    "Confirm it, let %(agent)s publish",
    "Publish it yourself",
    "Published, it moves to Forms",
    "It cannot go out yet",
    "Go and add",
    # drafts
    "Put back",
    "Helping line",
    "None given.",
    "Nothing written.",
    "No words yet",
    "as usual for this kind",
    "How many may answer",
    "Questions in all",
    "Nobody is asked more than",
    "Keep secrets out",
    "Saved as revision",
    "How it came about",
    "The first words.",
    "This is how it stands.",
    "Written differently, reads the same",
    "on your word",
    "Which ones may go",
    "Discard the chosen ones",
    "For a day it can be taken back",
    "with your own hand",
    # agents
    "Who may ask in your name",
    "Last here",
    "give it this",
    "For programs that speak HTTP",
    "or whoever builds one",
    "Its name has not been verified",
    "the programming interface",
    "Disconnecting one stops it",
    "used a copy of",
    "say yes in our chat",
    "You can change it any day",
    # accounts
    "Your password now",
    "Your browsers",
    "Language of these pages",
    "Make my account",
    "No mail is sent",
    "People who answer see it.",
    "used up only when you press",
    "do not match. Try again",
    "That pair does not match",
    "the first ones anybody would try",
    "hoever runs this server",
    # what goes wrong, and documents
    "Go to the start",
    "That could not be read",
    "This address does not do that",
    "The storage does not answer just now",
    "It has been written down for",
    "What you see is as it was at",
    "What the API answers when it says no",
    "Answered when",
    "What is kept, how long, and who sees it",
    "Against floods",
    "in passing memory",
    # respondents
    "the assistant that works for them",
    "Read it over, then send",
    "Sending says that you have finished",
    "This page is still empty",
    "ake this answer back",
    "unsent words are back",
    "Your unsent words",
    "Answer once more",
    "Nothing more is asked of you",
    "Signed %(name)s",
    "This one has closed",
    "This one has its answer",
    "asked one person only",
    "Pick up there where you left off",
    "point its camera at the code",
    "This link is used up",
    "but your text is still here",
    "That was too fast for this server",
    "As the device",
)
# too short to be told from other sentences: whole messages
LABELS = (
    "Any number",
    "as usual",
    "Began",
    "Colours",
    "finished",
    "Go on here",
    "How many",
    "In a chat",
    "It means",
    "No name",
    "None yet.",
    "not finished",
    "Not yet",
    "On paper",
    "Your word",
)


def spoken(source: str) -> str:
    """What a file says, with literals in a row as one and every space as a single one."""
    return " ".join(LITERALS_IN_A_ROW.sub("", source).split())


def given_up(text: str) -> list[str]:
    labels = [f'_("{label}")' for label in LABELS]
    return [wording for wording in (*GIVEN_UP, *labels) if wording in text]


def test_no_wording_that_was_given_up_is_back() -> None:
    files = [path for pattern in SOURCES for path in ROOT.glob(pattern)]
    found = {str(path.relative_to(ROOT)): given_up(spoken(path.read_text())) for path in files}

    assert len(found) > 500
    assert {name: wordings for name, wordings in found.items() if wordings} == {}


@pytest.mark.parametrize(
    "source",
    [
        "<p>Keep secrets out.</p>",
        '{{ _("Ann reads it. Keep "\n    "secrets out.") }}',
        '{{ _("Keep secrets\n  out.") }}',
        '<button>{{ _("Not yet") }}</button>',
    ],
)
def test_a_wording_is_found(source: str) -> None:
    assert given_up(spoken(source))
