"""`askback`, killed before or after its n-th step: `python -m tests.agent_cli.killed_at N ask …`.

A step is a request, a file written, or a line printed and counted.
"""

import itertools
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from webapp.agent_cli import asking, progress
from webapp.agent_cli.commands import main


def counted(function: Callable[..., Any], moments: "itertools.count[int]", last: int) -> Any:
    """The function, between two moments of which either may be the last one."""

    def step(*arguments: Any, **options: Any) -> Any:
        _moment(moments, last)
        result = function(*arguments, **options)
        _moment(moments, last)
        return result

    return step


def _moment(moments: "itertools.count[int]", last: int) -> None:
    if next(moments) == last:
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    begun, until = itertools.count(1), int(sys.argv.pop(1))
    for module, name in (
        (asking, "call"),
        (progress, "replace_file"),
        (progress, "_print_and_count"),
    ):
        setattr(module, name, counted(getattr(module, name), begun, until))
    main()
