"""The threads that answer requests."""

import threading
from typing import Any

from waitress.task import ThreadedTaskDispatcher


class Dispatcher(ThreadedTaskDispatcher):  # type: ignore[misc]
    """Gives each request to the thread that became idle last.

    There are as many threads as requests may wait at a time, but few of them work at once: always
    using the same ones keeps the caches of the processor warm.
    """

    def __init__(self) -> None:
        super().__init__()
        self._idle: list[threading.Lock] = []  # one lock per idle thread, released to wake it

    def add_task(self, task: Any) -> None:
        """Let a thread serve the task; it is queued while all are busy."""
        with self.lock:
            self.queue.append(task)
            if self._idle:
                self._idle.pop().release()

    def set_thread_count(self, count: int) -> None:
        """Start threads, or let surplus ones end once they are idle."""
        super().set_thread_count(count)
        with self.lock:
            while self._idle:
                self._idle.pop().release()

    def handler_thread(self, thread_no: int) -> None:
        """Serve until the thread may end."""
        asleep = threading.Lock()
        asleep.acquire()
        while self._serve(thread_no, asleep):
            pass

    def _serve(self, thread_no: int, asleep: threading.Lock) -> bool:
        """Serve a task, or sleep until there may be one; False when the thread may end."""
        with self.lock:
            if self.stop_count > 0:
                self.stop_count -= 1
                self.threads.discard(thread_no)
                self.thread_exit_cv.notify()
                return False
            task = self.queue.popleft() if self.queue else None
            if task is None:
                self._idle.append(asleep)
        if task is None:
            asleep.acquire()
            return True
        try:
            task.service()
        except BaseException:
            self.logger.exception("Exception when servicing %r", task)
        return True
