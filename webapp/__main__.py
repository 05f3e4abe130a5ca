"""Where a process of Askback begins: `askback`, or `python -m webapp`."""

import ctypes
import gc
import os
import sys
from contextlib import suppress

ARENA_MAX, MMAP_THRESHOLD = -8, -3  # malloc.h of glibc
# they need neither the application nor its database, and start without importing them
OF_AGENTS = frozenset({"ask", "connect", "sign-in", "sign-out", "wait"})


def _bound_heaps() -> None:
    """Few heaps, and none for large blocks, which then go back to the system.

    glibc otherwise gives many threads heaps of their own, and keeps in them what an export or a
    password once took. Elsewhere nothing happens.
    """
    with suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(ARENA_MAX, 2)
        mallopt(MMAP_THRESHOLD, 128 * 1024)


def main() -> None:
    """The command line, imported without looking for garbage in it.

    Nearly everything that an import makes stays. Looking through it again and again while it grows
    takes 1.1 s of processor time instead of 0.6 s; later searches leave it out.
    """
    _bound_heaps()
    os.umask(0o077)  # what is stored is for this account alone
    gc.disable()
    if sys.argv[1:2] and sys.argv[1] in OF_AGENTS:
        from webapp.agent_cli.commands import main as command
    else:
        from webapp.cli import main as command

    gc.freeze()
    gc.enable()
    command()


if __name__ == "__main__":
    main()
