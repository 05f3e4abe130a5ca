"""Code that took over the child that opens audio reaches nothing but the files of its request."""

import ctypes
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.command import ROOT, environment
from tests.voice.audio_files import recording
from webapp.voice import audio_inspection
from webapp.voice.audio_inspection import WAV, NotAudio, inspect, look
from webapp.voice.child_process import ChildFailed, ChildKilled, ChildProcess
from webapp.voice.confinement import CALLS, MAPPING, SECCOMP

HOSTILE = "tests.integrations.hostile_child"
FILES = [  # which Landlock alone refuses, too
    *(("read", "secret"), ("append", "database"), ("create", "database")),
    *(
        ("read", "/proc/self/environ"),
        ("look_into", "/proc/self/mem"),
        ("read", "/proc/{}/environ"),
        ("look_into", "/proc/{}/mem"),
    ),
    *(("spawn", ""), ("execute", "")),
]
OUTSIDE = [  # of Linux 6.12
    *(("connect", "port"), ("listen", ""), ("connect_unix", "abstract"), ("kill", "process")),
]
OTHERS = [
    *(("stat", "secret"), ("send_datagram", "port"), ("connect_unix", "unix"), ("fork", "")),
    *(("start_thread", ""), ("kill_group", ""), ("raise_limits", ""), ("read_memory", "")),
    *(("memory_file", ""), ("executable_memory", ""), ("executable_again", ""), ("duplicate", "")),
    *(("own_namespace", ""), ("more_calls_at_once", ""), ("be_traced", "")),
]
ALL = FILES + OUTSIDE + OTHERS
ABI = ctypes.CDLL(None).syscall(444, None, 0, 1) if sys.platform == "linux" else -1
HEADERS = (
    Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    Path("/usr/include/asm-generic/unistd.h"),
)

NewChild = Callable[..., ChildProcess]


@pytest.fixture
def lacks() -> str:
    """What this machine lacks to confine a child."""
    return audio_inspection.unconfined()


@pytest.fixture
def _confining(lacks: str) -> None:
    if lacks:
        pytest.skip(f"this machine lacks {lacks}")


@pytest.fixture
def taken_over() -> Iterator[NewChild]:
    """A child that does as it is asked, without some of what confines it."""
    made: list[ChildProcess] = []

    def start(without: str = "") -> ChildProcess:
        made.append(ChildProcess(HOSTILE, fixed={"WITHOUT": without}))
        return made[-1]

    yield start
    for child in made:
        child.end()


@pytest.fixture
def targets(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the attacks are after."""
    for name in ("secret", "database"):
        (tmp_path / name).write_text(f"the {name}")
    with ExitStack() as stack:
        listener = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        for address in (str(tmp_path / "unix"), f"\0{tmp_path}"):
            listening = stack.enter_context(socket.socket(socket.AF_UNIX))
            listening.bind(address)
            listening.listen()
        process = stack.enter_context(subprocess.Popen(["/bin/sleep", "60"]))
        stack.callback(process.kill)
        yield {
            "port": str(listener.getsockname()[1]),
            "abstract": f"@{tmp_path}",
            "process": str(process.pid),
        } | {name: str(tmp_path / name) for name in ("secret", "database", "unix")}


def succeeds(child: ChildProcess, attack: str, target: str, targets: dict[str, str]) -> bool:
    request = {"attack": attack, "target": targets.get(target, target.format(os.getpid()))}
    try:
        return "done" in child.call(request, [0, 0], seconds=20)
    except ChildFailed:  # another program ran in its place
        return True


@pytest.mark.usefixtures("_confining")
@pytest.mark.parametrize(
    ("without", "attacks"),
    [
        ("", ALL),
        ("landlock limits", ALL),
        ("seccomp limits", FILES + (OUTSIDE if ABI >= 6 else [])),
    ],
)
def test_whatever_a_confined_child_tries_is_refused(
    without: str,
    attacks: list[tuple[str, str]],
    taken_over: NewChild,
    targets: dict[str, str],
    tmp_path: Path,
) -> None:
    child = taken_over(without)

    assert [each for each in attacks if succeeds(child, *each, targets)] == []
    assert (tmp_path / "database").read_text() == "the database"
    os.kill(int(targets["process"]), 0)


def test_without_confinement_each_would_succeed(
    taken_over: NewChild, targets: dict[str, str]
) -> None:
    child = taken_over("landlock seccomp limits")

    assert [each for each in ALL if not succeeds(child, *each, targets)] == []


@pytest.mark.usefixtures("_confining")
def test_all_calls_but_a_few_are_refused(taken_over: NewChild) -> None:
    request = {"attack": "every_other_call", "target": ""}

    assert taken_over().call(request, [0, 0], seconds=20) == {"done": ""}


@pytest.mark.usefixtures("_confining")
@pytest.mark.parametrize("crash", ["segfault", "call_as_i386"])
def test_a_crash_of_a_confined_child_ends_it_at_once(crash: str, taken_over: NewChild) -> None:
    child = taken_over()
    with pytest.raises(ChildKilled, match="ended with status -"):
        child.call({"attack": crash, "target": ""}, [0, 0], seconds=20)


@pytest.mark.parametrize(
    ("attack", "line"),
    [
        *(("babble_on", ""), ("babble", "[]\n"), ("babble", "words\n")),
        ("babble", "[" * 20_000 + "\n"),
    ],
    ids=["endless", "no object", "no json", "deep"],
)
def test_what_is_no_answer_ends_the_child(attack: str, line: str, taken_over: NewChild) -> None:
    child = taken_over()
    with pytest.raises(ChildKilled, match="no answer"):
        child.call({"attack": attack, "target": line}, [0, 0], seconds=20)

    assert child.pid is None


@pytest.mark.parametrize(
    "answer",
    [
        *({}, {"duration_ms": "ten", "levels": "1" * 64, "voiced": True, "decoded_ms": None}),
        {"duration_ms": [], "levels": "<b>", "voiced": True, "decoded_ms": 1},
    ],
)
def test_an_answer_that_is_none_of_ours_is_a_refused_file(
    answer: dict[str, object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "upload").write_bytes(recording("wav"))
    monkeypatch.setattr(ChildProcess, "call", lambda *_, **__: answer)
    for question in (inspect, look):
        with pytest.raises(NotAudio):
            question(tmp_path / "upload", WAV)


def test_another_child_takes_over_before_the_processor_time_ends(
    taken_over: NewChild, tmp_path: Path
) -> None:
    child = taken_over()
    child.call({"attack": "spend", "target": ""}, [0, 0], seconds=20)
    spent = child.pid
    (tmp_path / "upload").write_bytes(recording("wav"))
    with (tmp_path / "upload").open("rb") as file:
        question = {"question": "inspect", "demuxer": "wav"}
        found = child.call(question, [file.fileno()] * 2, seconds=20)

    assert found == {"duration_ms": 1000}
    assert child.pid not in {spent, None}


# refuses `seccomp` and `landlock_create_ruleset`, as a container with an old seccomp profile
REFUSING = """
import ctypes, os, struct, sys
from webapp.voice.confinement import ARCHITECTURES, SECCOMP
number = SECCOMP[list(ARCHITECTURES).index(os.uname().machine)]
steps = [(0x20, 0, 0, 0), (0x15, 1, 0, number), (0x15, 0, 1, 444), (6, 0, 0, 0x50026)]
code = b"".join(struct.pack("HBBI", *step) for step in [*steps, (6, 0, 0, 0x7FFF0000)])
kept = ctypes.create_string_buffer(code)
program = struct.pack("HP", len(code) // 8, ctypes.addressof(kept))
libc = ctypes.CDLL(None)
word = ctypes.c_ulong
libc.prctl.argtypes = (ctypes.c_int, word, ctypes.c_char_p, word, word)
assert libc.prctl(38, 1, None, 0, 0) == libc.prctl(22, 2, program, 0, 0) == 0
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
WORKING = """
import logging, pathlib, sys
from webapp.voice import audio_inspection as audio
logging.basicConfig(format="%(message)s", stream=sys.stdout)
path = pathlib.Path(sys.argv[1])
print(audio.inspect(path, audio.WAV))
audio.child.end()
"""


@pytest.mark.usefixtures("_confining")
def test_where_a_container_refuses_both_audio_is_opened_and_the_log_says_so(
    tmp_path: Path,
) -> None:
    (tmp_path / "upload").write_bytes(recording("wav"))
    command = [sys.executable, "-c", REFUSING, "-c", WORKING, str(tmp_path / "upload")]
    ran = subprocess.run(
        command, cwd=ROOT, env=environment({}), capture_output=True, text=True, check=True
    )

    assert "without Landlock, seccomp; askback doctor" in ran.stdout
    assert ran.stdout.endswith("\n1000\n")


@pytest.mark.parametrize("column", [0, 1], ids=["x86_64", "aarch64"])
def test_the_numbers_are_those_of_the_kernel(column: int) -> None:
    if not HEADERS[column].exists():
        pytest.skip("no headers of the kernel")
    text = HEADERS[column].read_text()
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text))
    ours = {**CALLS, **MAPPING, "seccomp": SECCOMP}
    if column:
        ours.pop("poll")  # `ppoll` in its place

    assert {name: known[name] for name in ours} == {
        name: str(numbers[column]) for name, numbers in ours.items()
    }
