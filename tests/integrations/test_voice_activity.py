"""Whether somebody speaks, by the loudness of short frames."""

import random

import pytest

from webapp.voice.voice_activity import is_voiced, level_curve

RANDOM = random.Random(11)  # noqa: S311


def background(level: float, seconds: float = 3.0, spread: float = 1.0) -> list[float]:
    return [level + RANDOM.uniform(-spread, spread) for _ in range(int(seconds / 0.03))]


def with_syllables(level: float, floor: float) -> list[float]:
    """150 ms of each 600 ms are at `level`."""
    levels = background(floor)
    return [level if number % 20 < 5 else floor for number, floor in enumerate(levels)]


SETTLING = [-60.0, -58, -63, -65, -66, -66, -67, -67, -68, -68]  # until a browser suppresses noise
CLICKS = [-20.0 if number % 30 < 2 else level for number, level in enumerate(background(-60))]


@pytest.mark.parametrize(
    "levels",
    [
        *map(background, (-100.0, -65.0, -50.0)),
        [],
        CLICKS,
        SETTLING + background(-71),
    ],
)
def test_what_is_as_loud_all_the_time_or_for_a_moment_is_no_voice(levels: list[float]) -> None:
    assert not is_voiced(levels)


@pytest.mark.parametrize(
    "levels",
    [
        *(with_syllables(*pair) for pair in ((-20, -60), (-45, -55), (-65, -95))),
        with_syllables(-43, -50),  # in a noisy place
        background(-30),  # without a pause
        background(-60, 300) + [-35.0] * 6 + background(-60, 300),  # one word in minutes
        SETTLING + with_syllables(-60, -71),
    ],
)
def test_what_is_clearly_above_the_background_is_a_voice(levels: list[float]) -> None:
    assert is_voiced(levels)


def test_the_curve_has_64_digits_that_follow_the_loudness() -> None:
    curve = level_curve([-60.0] * 500 + [-20.0] * 500)

    assert curve == "0" * 32 + "9" * 32
    assert level_curve([-60.0, -20.0]) == "0" * 32 + "9" * 32
    assert level_curve([]) == "0" * 64
