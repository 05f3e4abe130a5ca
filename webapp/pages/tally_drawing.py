"""Hand-drawn tally marks, as paths of SVG."""

from typing import NamedTuple

JITTER = (0.7, -0.3, 0.8, -0.6, 0.2, -0.8, 0.5, 0.9, -0.5, 0.1)
STROKE_STEP = 10.5
AFTER_FIFTH = 14


class Tally(NamedTuple):
    """Paths of a tally and the width of its view box; the height is 31."""

    paths: list[str]
    width: float


def tally_of(total: int) -> Tally:
    """Hand-drawn strokes for `total` questions, the same at each call; every fifth lies across."""
    paths, x = [], 5.0
    for number in range(total):
        wobble = [JITTER[(number * 3 + part) % len(JITTER)] for part in range(4)]
        if number % 5 == 4:
            paths.append(_across(x, wobble))
            x += AFTER_FIFTH
        else:
            paths.append(_upright(x, wobble))
            x += STROKE_STEP
    return Tally(paths, round(x + 1, 1))


def _upright(x: float, wobble: list[float]) -> str:
    a, b, c, d = wobble
    return (
        f"M{x + 1:.1f} {3 + a:.1f}C{x + b:.1f} 12 {x - 0.4 + c:.1f} 20 {x + d / 2:.1f} {28 + a:.1f}"
    )


def _across(x: float, wobble: list[float]) -> str:
    a, b, c, d = wobble
    return (
        f"M{x - 42:.1f} {25 + a:.1f}C{x - 30:.1f} {19 + b:.1f} "
        f"{x - 18:.1f} {13 + c:.1f} {x - 5:.1f} {6 + d:.1f}"
    )
