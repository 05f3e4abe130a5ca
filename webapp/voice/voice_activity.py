"""Does somebody speak, and how loud is it when: statistics of the loudness of short frames.

Speech comes in syllables, so it is now and then much louder than the softest moments of the same
recording; hum and the noise of a room or a microphone are as loud all the time. Whatever is loud
counts as voice even without pauses, for a soft voice taken for silence would be lost and a machine
taken for a voice costs one question to an engine. What happens for less than a tenth of a second,
a click or a key, is no voice.
"""

import array
import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, dropwhile, groupby, repeat
from operator import gt, mul

RATE = 8000  # samples a second: twice the highest frequency that a telephone lets through
FRAME_MS = 30
FRAME_SAMPLES = RATE * FRAME_MS // 1000
HIGHPASS_HZ = 150  # below is the hum of the mains, and little of any voice

# levels are in dB below the loudest possible (dBFS), of the mean power of a frame
NOTHING = -100.0
DIGITAL_SILENCE = -85.0  # no microphone is this quiet: it has not started
FAINTEST = -75.0  # no voice is below
LOUD = -40.0  # voice, whatever else there is
ABOVE_FLOOR = 6.0
FRAMES_IN_A_ROW = 4
SETTLING_FRAMES = 10  # until the noise suppression of a browser knows the noise: LOUD counts alone

STEPS = 64
DIGITS = 9
RANGE = 36.0  # from the loudest step down to a 0
LOUDEST_AT_LEAST = -40.0  # so that the noise of a silent recording stays near 0


def frame_levels(chunks: Iterable[bytes]) -> Iterator[float]:
    """The level of each whole frame of 16-bit samples in the byte order of this machine."""
    pending = array.array("h")
    for chunk in chunks:
        pending.frombytes(chunk)
        whole = len(pending) - len(pending) % FRAME_SAMPLES
        for start in range(0, whole, FRAME_SAMPLES):
            frame = pending[start : start + FRAME_SAMPLES]
            yield _level(sum(map(mul, frame, frame)) / FRAME_SAMPLES / 32768**2)
        del pending[:whole]


def is_voiced(levels: Sequence[float]) -> bool:
    """Whether FRAMES_IN_A_ROW frames are LOUD, or clearly above the softest tenth of all."""
    threshold = min(LOUD, max(FAINTEST, _floor(levels) + ABOVE_FLOOR))
    thresholds = chain(repeat(LOUD, SETTLING_FRAMES), repeat(threshold))
    runs = groupby(map(gt, levels, thresholds))
    return any(above and len(list(run)) >= FRAMES_IN_A_ROW for above, run in runs)


def level_curve(levels: Sequence[float]) -> str:
    """STEPS digits of equal length in time, the loudest being 9 unless all is near silence."""
    if not levels:
        return "0" * STEPS
    count = max(len(levels), STEPS)
    stretched = [levels[i * len(levels) // count] for i in range(count)]
    cuts = [step * count // STEPS for step in range(STEPS + 1)]
    steps = [_mean(stretched[cuts[i] : cuts[i + 1]]) for i in range(STEPS)]
    loudest = max(LOUDEST_AT_LEAST, *steps)
    return "".join(str(_digit(level - loudest)) for level in steps)


def _digit(below: float) -> int:
    return max(0, round(DIGITS * (1 + below / RANGE)))


def _floor(levels: Sequence[float]) -> float:
    """The level that the softest tenth is below, from where the microphone started."""
    heard = sorted(dropwhile(lambda level: level < DIGITAL_SILENCE, levels))
    return heard[len(heard) // 10] if heard else NOTHING


def _mean(levels: Sequence[float]) -> float:
    return _level(sum(10 ** (level / 10) for level in levels) / len(levels))


def _level(power: float) -> float:
    return max(NOTHING, 10 * math.log10(power)) if power > 0 else NOTHING
