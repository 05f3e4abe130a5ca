"""Restricts a Linux process to its memory and its open files.

Landlock denies it every path and port. A seccomp filter refuses every system call outside CALLS
with ENOSYS, for which libraries have fallbacks, and kills a process that makes calls of another
architecture.
"""

import ctypes
import errno
import os
import platform
import struct
import sys

ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}  # AUDIT_ARCH_*
# system call numbers on each; x32 calls set another bit, so they are refused
SECCOMP = (317, 277)
MAPPING = {"mmap": (9, 222), "mprotect": (10, 226)}  # allowed, but not with executable memory
CALLS = {
    **{"read": (0, 63), "write": (1, 64), "close": (3, 57), "lseek": (8, 62), "readv": (19, 65)},
    **{"poll": (7, 73), "ppoll": (271, 73), "recvmsg": (47, 212), "sendto": (44, 206)},
    **{"munmap": (11, 215), "brk": (12, 214), "mremap": (25, 216), "madvise": (28, 233)},
    **{"futex": (202, 98), "sched_yield": (24, 124), "getrandom": (318, 278)},
    **{"clock_gettime": (228, 113), "clock_nanosleep": (230, 115), "setitimer": (38, 103)},
    **{"rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139), "restart_syscall": (219, 128)},
    **{"exit": (60, 93), "exit_group": (231, 94)},
}
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06  # classic BPF
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000 | errno.ENOSYS
NUMBER, ARCHITECTURE, THIRD_ARGUMENT = 0, 4, 32  # offsets in struct seccomp_data


def confine() -> list[str]:
    """Confine this process for good; return what this machine lacks for it."""
    if sys.platform != "linux":
        return ["Landlock", "seccomp"]
    libc = ctypes.CDLL(None)
    libc.syscall.argtypes = (ctypes.c_long, ctypes.c_void_p, ctypes.c_long, ctypes.c_void_p)
    libc.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    return ["Landlock"] * (not _open_nothing(libc)) + ["seccomp"] * (not _call_little(libc))


def _open_nothing(libc: ctypes.CDLL) -> bool:
    abi = libc.syscall(444, None, 0, 1)
    rights = (1 << 13 + (abi >= 2) + (abi >= 3) + (abi >= 5) + (abi >= 9)) - 1
    handled = struct.pack("QQQ", rights, 3 * (abi >= 4) + 12 * (abi >= 10), 3 * (abi >= 6))
    if abi < 1 or (rules := libc.syscall(444, handled, len(handled), None)) < 0:
        return False
    done = libc.syscall(446, rules, 8 * (abi >= 8), None)  # flag for all threads, from ABI 8 on
    os.close(rules)
    return bool(done == 0)


def _call_little(libc: ctypes.CDLL) -> bool:
    machine = platform.machine()
    if machine not in ARCHITECTURES or sys.maxsize < 2**32:
        return False
    its = list(ARCHITECTURES).index(machine)
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, ARCHITECTURES[machine])]
    steps += [(RETURN, 0, 0, KILL), (LOAD, 0, 0, NUMBER)]
    for numbers in MAPPING.values():
        steps += [(EQUAL, 0, 4, numbers[its]), (LOAD, 0, 0, THIRD_ARGUMENT)]
        steps += [(ANY_BIT, 0, 1, 4), (RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]  # PROT_EXEC
    for numbers in CALLS.values():
        steps += [(EQUAL, 0, 1, numbers[its]), (RETURN, 0, 0, ALLOW)]
    code = b"".join(struct.pack("HBBI", *step) for step in [*steps, (RETURN, 0, 0, REFUSE)])
    kept = ctypes.create_string_buffer(code)
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(kept))
    return bool(libc.syscall(SECCOMP[its], 1, 1, program) == 0)  # SET_MODE_FILTER, for all threads
