"""Sentences of a few words, a program that speaks them, and an engine that knows no others."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

import pytest

from tests.programs import locked_packages
from tests.services import install_with_apt, missing, on_path
from tests.voice.audio_files import RATE, decoded, wav

GRAMMAR = """#JSGF V1.0;
grammar rota;
public <sentence> = the <what> <became> on <day>;
<what> = deploy | backup | release;
<became> = failed | worked | stopped;
<day> = monday | tuesday | friday;
"""
LOCK = Path(__file__).with_name("pocketsphinx.lock")
LEAD_SECONDS = 1  # a recorder needs a moment to begin
WORDS_A_MINUTE = "140"

Hear = Callable[[bytes], str]
Say = Callable[[str], bytes]


@pytest.fixture(scope="session")
def say() -> Say:
    """Makes a WAV file of a sentence, with silence around it."""
    if on_path("espeak-ng") is None:
        install_with_apt("espeak-ng")
    remedy = "Install it, for example: apt-get install espeak-ng"
    program = on_path("espeak-ng") or missing("espeak-ng", remedy)

    def said(sentence: str) -> bytes:
        command = [program, "-v", "en-us", "-s", WORDS_A_MINUTE, "--stdout", sentence]
        spoken = subprocess.run(command, check=True, capture_output=True).stdout
        silence = bytes(2 * RATE * LEAD_SECONDS)
        return wav(silence + decoded(spoken) + silence)

    return said


@pytest.fixture(scope="session")
def hear() -> Iterator[Hear]:
    """Finds the sentence in a recording; "" if it is none of the grammar."""
    with pytest.MonkeyPatch.context() as patch:
        package = locked_packages(LOCK, "Without a wheel, pocketsphinx takes a C compiler.")
        patch.setattr(sys, "path", [*sys.path, str(package)])
        decoder_of = import_module("pocketsphinx").Decoder

    def heard(recording: bytes) -> str:
        decoder = decoder_of(lm=None, loglevel="FATAL")
        decoder.add_jsgf_string("sentences", GRAMMAR)
        decoder.activate_search("sentences")
        decoder.start_utt()
        decoder.process_raw(decoded(recording), full_utt=True)
        decoder.end_utt()
        found = decoder.hyp()
        return found.hypstr if found else ""

    return heard
