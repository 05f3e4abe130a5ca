"""A speech engine in a process of its own: prints its port.

A real one runs on another machine, so this one takes of the processor what nobody else wants.
"""

import os
import signal

from tests.voice.speech_engine import Reply, SpeechEngine, speech_engine, words

SECONDS = 1.0
TEXT = "The deploy ran twice, because the lock was not taken before the first step."


def main() -> None:
    os.nice(19)
    engines: list[SpeechEngine] = []

    def answer(_number: int) -> Reply:
        engines[0].heard.clear()  # 25 MiB each
        return words(TEXT, after=SECONDS)

    with speech_engine(answer) as engine:
        engines.append(engine)
        print(engine.port, flush=True)
        signal.pause()


if __name__ == "__main__":
    main()
