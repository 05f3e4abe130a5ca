"""The rules on labelled threads."""

import re

import pytest

from tests.domain.follow_ups.threads import Labelled, read_threads
from webapp.domain.follow_ups.languages import PHRASED, language_of

THREADS = read_threads()


@pytest.mark.parametrize("labelled", THREADS, ids=lambda labelled: labelled.id)
def test_the_decision_is_one_of_those_expected(labelled: Labelled) -> None:
    decision = labelled.decide()

    assert labelled.fits(decision), decision


@pytest.mark.parametrize("labelled", THREADS, ids=lambda labelled: labelled.id)
def test_nothing_of_the_private_context_is_asked(labelled: Labelled) -> None:
    public = {word for one in labelled.thread.exchanges for word in re.findall(r"\w+", str(one))}
    private = {word for word in re.findall(r"\w+", labelled.context) if len(word) > 4} - public

    assert not private & set(re.findall(r"\w+", labelled.decide().question))


@pytest.mark.parametrize("labelled", THREADS, ids=lambda labelled: labelled.id)
def test_the_language_is_recognised_by_the_questions(labelled: Labelled) -> None:
    known = labelled.language if labelled.language in PHRASED else ""

    assert language_of("", labelled.thread.questions) == known


@pytest.mark.parametrize(
    ("kind", "least"),
    [
        *(("thin", 5), ("rich", 3), ("hedged", 3), ("refusing", 10), ("multi", 3), ("tender", 6)),
        *(("injection", 15), ("canary", 15)),
    ],
)
def test_there_are_threads_of_every_kind(kind: str, least: int) -> None:
    assert sum(labelled.id.startswith(f"{kind}-") for labelled in THREADS) >= least


def test_no_two_threads_have_one_name() -> None:
    assert len({labelled.id for labelled in THREADS}) == len(THREADS) >= 60
