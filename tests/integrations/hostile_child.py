"""The child that opens audio, taken over: it does to others what a request says."""

import ctypes
import errno
import mmap
import os
import resource
import signal
import socket
import threading
from collections.abc import Callable, Sequence

from webapp.voice import audio_child, confinement
from webapp.voice.child_process import Answer, Request

LIBC = ctypes.CDLL(None, use_errno=True)
PARTS = {
    "landlock": (confinement, "_open_nothing"),
    "seccomp": (confinement, "_call_little"),
    "limits": (audio_child, "_limit"),
}
PROTECTION = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
MAPPED = mmap.mmap(-1, 4096, prot=PROTECTION)  # while it still can
CODE = ctypes.addressof(ctypes.c_char.from_buffer(MAPPED))
MACHINE = os.uname().machine
ABOVE_ALL_CALLS = 600
X32 = 0x40000000


def prepare() -> Answer:
    for part in os.environ["WITHOUT"].split():
        setattr(*PARTS[part], lambda *_: False)
    return audio_child.prepare()


def answer(request: Request, files: Sequence[int]) -> Answer:
    if "question" in request:
        return audio_child.answer(request, files)
    try:
        return {"done": str(ATTACKS[str(request["attack"])](str(request["target"])) or "")}
    except OSError as error:
        return {"refused": errno.errorcode[error.errno or 0]}


def called(name: str, *arguments: object) -> None:
    if getattr(LIBC, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def connect(family: int, address: str | tuple[str, int]) -> None:
    with socket.socket(family) as made:
        made.connect(address)


def listen(_target: str) -> None:
    with socket.socket() as made:
        made.bind(("127.0.0.1", 0))


def send_datagram(port: str) -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as made:
        made.sendto(b"hello", ("127.0.0.1", int(port)))


def fork(_target: str) -> None:
    if (pid := os.fork()) == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def start_thread(_target: str) -> None:
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        raise OSError(errno.EPERM, "thread") from None


def raise_limits(_target: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, resource.getrlimit(resource.RLIMIT_AS))


def executable_again(_target: str) -> None:
    memory = mmap.mmap(-1, 4096)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    called("mprotect", ctypes.c_void_p(start), 4096, mmap.PROT_READ | mmap.PROT_EXEC)


def more_calls_at_once(_target: str) -> None:
    with open("/dev/zero", "rb"):
        called("syscall", 425, 1, ctypes.create_string_buffer(120))  # io_uring_setup


def every_other_call(_target: str) -> str:
    """The numbers that are not refused; harmful while they are not."""
    column = list(confinement.ARCHITECTURES).index(MACHINE)
    known = {each[column] for each in (*confinement.CALLS.values(), *confinement.MAPPING.values())}
    if MACHINE == "x86_64":
        known |= {335, 336}  # of probes, which pass any filter and end whoever is not probed
    numbers = [number for number in range(ABOVE_ALL_CALLS) if number not in known]
    numbers += [X32 | number for number in range(ABOVE_ALL_CALLS)]
    return ",".join(str(number) for number in numbers if not refused(number))


def refused(number: int) -> bool:
    minus = [ctypes.c_long(-1)] * 6
    return LIBC.syscall(ctypes.c_long(number), *minus) == -1 and ctypes.get_errno() == errno.ENOSYS


def babble_on(_target: str) -> None:
    while True:
        os.write(0, b"9" * 65536)


def call_as_i386(_target: str) -> None:
    """`getpid` by the interrupt of 32-bit programs."""
    code = b"\xb8\x14\0\0\0\xcd\x80\xc3"
    ctypes.memmove(CODE, code, len(code))
    ctypes.CFUNCTYPE(ctypes.c_int)(CODE)()


ATTACKS: dict[str, Callable[[str], object]] = {
    "read": lambda path: os.read(os.open(path, os.O_RDONLY), 100).decode(errors="replace"),
    "look_into": lambda path: os.close(os.open(path, os.O_RDWR)),
    "append": lambda path: os.write(os.open(path, os.O_WRONLY | os.O_APPEND), b"written"),
    "create": lambda path: os.close(os.open(f"{path}.new", os.O_WRONLY | os.O_CREAT)),
    "stat": os.stat,
    "connect": lambda port: connect(socket.AF_INET, ("127.0.0.1", int(port))),
    "connect_unix": lambda path: connect(socket.AF_UNIX, path.replace("@", "\0")),
    "listen": listen,
    "send_datagram": send_datagram,
    "fork": fork,
    "spawn": lambda _: os.waitpid(os.posix_spawn("/bin/true", ["true"], {}), 0),
    "start_thread": start_thread,
    "execute": lambda _: os.execv("/bin/true", ["true"]),  # noqa: S606
    "kill": lambda pid: os.kill(int(pid), signal.SIGKILL),
    "kill_group": lambda _: os.killpg(0, 0),
    "raise_limits": raise_limits,
    "be_traced": lambda _: called("ptrace", 0, 0, None, None),
    "read_memory": lambda _: called("process_vm_readv", os.getpid(), None, 0, None, 0, 0),
    "memory_file": lambda _: os.memfd_create("code"),
    "executable_memory": lambda _: mmap.mmap(-1, 4096, prot=PROTECTION).close(),
    "executable_again": executable_again,
    "own_namespace": lambda _: called("unshare", 0),
    "more_calls_at_once": more_calls_at_once,
    "duplicate": lambda _: os.close(os.dup(0)),
    "every_other_call": every_other_call,
    "babble": lambda line: os.write(0, line.encode()),
    "babble_on": babble_on,
    "spend": lambda _: setattr(audio_child, "SPENT_SECONDS", 0),
    "abort": lambda _: LIBC.abort(),
    "segfault": lambda _: ctypes.string_at(0),
    "call_as_i386": call_as_i386,
}
