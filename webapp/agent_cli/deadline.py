"""How long a command goes on, and how it ends when that is over."""

import time

from webapp.agent_cli.exits import Exit, NotNow, Stopped, tell

PAUSES = (0.5, 1, 2, 4, 5)  # seconds before a request is repeated, the last one again and again


class Deadline:
    """`late` and `why` say what is waited for; they change as the command goes on."""

    def __init__(self, seconds: float) -> None:
        self._ends = time.monotonic() + seconds
        self.late = Exit.NOT_CONFIRMED
        self.why = "Nobody confirmed the draft in time."
        self._failures = 0

    def left(self) -> float:
        """Seconds, never less than 0."""
        return max(0.0, self._ends - time.monotonic())

    def pause(self, seconds: float) -> None:
        """Sleep, at most to the end. Raises Stopped when there is no time left."""
        left = self.left()
        if left <= 0:
            raise Stopped(self.late, self.why)
        time.sleep(min(seconds, left))

    def answered(self) -> None:
        """The server is there."""
        self._failures = 0

    def failed(self, reason: NotNow) -> None:
        """Sleep before a repetition. Raises Stopped when there is no time left for one."""
        if self.left() <= 0:
            code = self.late if reason.reached else Exit.NOT_REACHED
            raise Stopped(code, str(reason))
        if not self._failures:
            tell(f"{reason}; trying again …")
        usual = PAUSES[min(self._failures, len(PAUSES) - 1)]
        self._failures += 1
        self.pause(usual if reason.seconds is None else reason.seconds)
