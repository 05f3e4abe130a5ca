"""Detects speech in a recording and charts its loudness, from the levels of short frames.

Speech comes in syllables, so now and then it is much louder than the softest moments of the same
recording; mains hum and the noise of a room or a microphone stay equally loud. Any loud sound
counts as voice even without pauses: mistaking a soft voice for silence loses its words, but
mistaking a machine for a voice costs only one request to an engine. Sounds of less than a tenth of
a second, such as a click or a key, do not count as voice.
"""

import array
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, dropwhile, groupby, repeat
from operator import gt, mul

RATE = 8000  # samples a second: twice the highest frequency of a telephone
FRAME_MS = 30
FRAME_SAMPLES = RATE * FRAME_MS // 1000
HIGHPASS_HZ = 150  # mains hum is below, and little of any voice

# levels are the mean power of a frame in dBFS (0 is the loudest possible)
NOTHING = -100.0
DIGITAL_SILENCE = -85.0  # no running microphone is this quiet
FAINTEST = -75.0  # no voice is softer
LOUD = -40.0  # always counts as voice
ABOVE_FLOOR = 6.0
FRAMES_IN_A_ROW = 4
SETTLING_FRAMES = 10  # while the browser's noise suppression adapts, only LOUD counts

STEPS = 64
DIGITS = 9
RANGE = 36.0  # from the loudest step down to digit 0
LOUDEST_AT_LEAST = -40.0  # keeps the noise of a silent recording near 0


def frame_levels(chunks: Iterable[bytes]) -> Iterator[float]:
    """Yield the level of each whole frame of 16-bit samples in the byte order of this machine."""
    pending = array.array("h")
    for chunk in chunks:
        pending.frombytes(chunk)
        whole = len(pending) - len(pending) % FRAME_SAMPLES
        for start in range(0, whole, FRAME_SAMPLES):
            frame = pending[start : start + FRAME_SAMPLES]
            yield _level(sum(map(mul, frame, frame)) / FRAME_SAMPLES / 32768**2)
        del pending[:whole]


def is_voiced(levels: Sequence[float]) -> bool:
    """Return whether FRAMES_IN_A_ROW frames are LOUD, or clearly above the softest tenth."""
    # without the frames before the microphone started
    heard = sorted(dropwhile(lambda level: level < DIGITAL_SILENCE, levels))
    floor = heard[len(heard) // 10] if heard else NOTHING
    threshold = min(LOUD, max(FAINTEST, floor + ABOVE_FLOOR))
    thresholds = chain(repeat(LOUD, SETTLING_FRAMES), repeat(threshold))
    runs = groupby(map(gt, levels, thresholds))
    return any(above and len(list(run)) >= FRAMES_IN_A_ROW for above, run in runs)


def level_curve(levels: Sequence[float]) -> str:
    """Return STEPS digits, equal in time; the loudest is 9 unless the recording is near silence."""
    if not levels:
        return "0" * STEPS
    count = max(len(levels), STEPS)
    stretched = [levels[i * len(levels) // count] for i in range(count)]
    cuts = [step * count // STEPS for step in range(STEPS + 1)]
    steps = [_mean(stretched[cuts[i] : cuts[i + 1]]) for i in range(STEPS)]
    loudest = max(LOUDEST_AT_LEAST, *steps)
    digits = (round(DIGITS * (1 + (level - loudest) / RANGE)) for level in steps)
    return "".join(str(max(0, digit)) for digit in digits)


def _mean(levels: Sequence[float]) -> float:
    return _level(sum(10 ** (level / 10) for level in levels) / len(levels))


def _level(power: float) -> float:
    return max(NOTHING, 10 * math.log10(power)) if power > 0 else NOTHING
