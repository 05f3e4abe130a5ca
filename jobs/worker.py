"""What delivers in this process: threads that RQ wakes, and the sweeper."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from jobs.deliver import WORKER_THREADS, Deliverer
from jobs.queue import DELIVERIES, Kind, wake_up_queue
from jobs.sweep import sweep_until
from webapp.config import Settings


@contextmanager
def delivering(app: Flask, *, stop_seconds: float, start_after: float = 0) -> Iterator[Deliverer]:
    """Deliver while the block runs, unless events are switched off.

    start_after   seconds until the threads begin, and import RQ where Redis is configured
    stop_seconds  how long what runs may take, from the end or from an earlier `refuse`
    """
    config: Settings = app.config["SETTINGS"]
    deliverer: Deliverer = app.extensions["deliverer"]
    ended = threading.Event()
    if config.mcp_events_enabled:
        arguments = (app, ended, WORKER_THREADS, start_after)
        threading.Thread(target=_run, args=arguments, name="deliveries", daemon=True).start()
    try:
        yield deliverer
    finally:
        ended.set()
        deliverer.finish(stop_seconds)


def _run(app: Flask, ended: threading.Event, threads: int, start_after: float) -> None:
    if ended.wait(start_after):
        return
    arguments = (app, ended, DELIVERIES, threads)
    threading.Thread(target=take_wake_ups, args=arguments, name="taking", daemon=True).start()
    sweep_until(app, ended, threads=threads)


def take_wake_ups(app: Flask, ended: threading.Event, kind: Kind, threads: int) -> None:
    """Have so many threads of RQ take them, from the first one on that this process may see.

    A server that wakes nobody never imports RQ, which is an eighth of its memory.
    """
    with app.app_context():
        wake_ups = wake_up_queue(kind)
    if not wake_ups.await_use(ended):
        return
    from jobs.rq_worker import work_until  # takes long to import

    for number in range(threads):
        name = f"{kind.name}-{number}"
        threading.Thread(target=work_until, args=(app, ended, kind), name=name, daemon=True).start()
