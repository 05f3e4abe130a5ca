"""Answers in six languages that were written without a look at the lists and the examples."""

from pathlib import Path

import pytest

from tests.domain.follow_ups.train import read_examples
from webapp.base.vocabulary import FollowUpMode
from webapp.follow_ups.rules import Exchange, Thread, ending
from webapp.follow_ups.signals import NAMES, score
from webapp.follow_ups.text import fold

HELD_OUT = Path(__file__).parent / "held_out"


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("refusals", 95, 100), ("grave", 80, 100), ("figures", 0, 20), ("ordinary", 0, 20)],
)
def test_so_many_of_a_hundred_are_left_alone(name: str, least: int, most: int) -> None:
    lines = (HELD_OUT / f"{name}.tsv").read_text("utf-8").splitlines()
    ended = [is_left_alone(question, answer) for _, question, answer in map(split, lines)]

    assert least <= 100 * sum(ended) / len(ended) <= most


def is_left_alone(question: str, answer: str) -> bool:
    exchanges = (Exchange(question, answer),)
    return ending(Thread(FollowUpMode.SMART, exchanges, (question,))) is not None


def split(line: str) -> list[str]:
    """Language, question, answer."""
    return line.split("\t")


@pytest.mark.parametrize("name", NAMES)
def test_the_weights_are_made_of_the_examples(name: str) -> None:
    found = [(label == name, score(name, fold(answer)) > 0) for label, answer in read_examples()]
    right = sum(is_one == told for is_one, told in found)

    assert right >= 0.9 * len(found)
