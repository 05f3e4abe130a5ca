"""Decisions that scripts ask for are made one after the other in each process.

All threads share one processor: while 200 people came for theirs, answers of others stood in line
behind all of them. Those 200 see "One moment…", and have seconds.
"""

import threading
import time
from types import TracebackType
from typing import Self

from webapp.integrations.follow_up_models import MODEL_SECONDS

MOST_SECONDS = 3.0  # of a wait; whoever has waited so long goes on beside the others
REST_SECONDS = 0.005  # between two turns, where one waits: all others run then
LATE_SECONDS = 1.0  # the model would have too little time then

_free = threading.Lock()


class Turn:
    """The turn of a request in a `with` block, waited for; without one, its clock alone.

    spent  seconds of a model's time that have passed before
    """

    def __init__(self, spent: float = 0.0) -> None:
        self._began = time.monotonic() - spent
        self._held = False

    def __enter__(self) -> Self:
        self._held = _free.acquire(blocking=False)
        if not self._held:
            self._held = _free.acquire(timeout=MOST_SECONDS)
            time.sleep(REST_SECONDS)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.end()

    def end(self) -> None:
        """Let the next one decide, before this request waits for something else."""
        if self._held:
            self._held = False
            _free.release()

    @property
    def is_late(self) -> bool:
        """Whether the rules should decide, because too much time has passed for a model."""
        return time.monotonic() - self._began > LATE_SECONDS

    @property
    def model_seconds(self) -> float:
        """What is left of the time that a model has, counted from the begin of the request."""
        return max(0.0, MODEL_SECONDS - (time.monotonic() - self._began))
