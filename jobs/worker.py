"""What delivers in this process: threads that RQ wakes, and the sweeper."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from flask import Flask

from jobs.deliver import Deliverer
from jobs.sweep import sweep_until
from webapp.config import Settings


@contextmanager
def delivering(app: Flask, *, stop_seconds: float, start_after: float = 0) -> Iterator[Deliverer]:
    """Deliver while the block runs, unless events are switched off.

    start_after   seconds until RQ is imported and the threads begin
    stop_seconds  how long what runs may take, from the end or from an earlier `refuse`
    """
    config: Settings = app.config["SETTINGS"]
    deliverer: Deliverer = app.extensions["deliverer"]
    ended = threading.Event()
    if config.mcp_events_enabled:
        arguments = (app, ended, config.worker_threads, start_after)
        threading.Thread(target=_run, args=arguments, name="deliveries", daemon=True).start()
    try:
        yield deliverer
    finally:
        ended.set()
        deliverer.finish(stop_seconds)


def _run(app: Flask, ended: threading.Event, threads: int, start_after: float) -> None:
    if ended.wait(start_after):
        return
    from jobs.rq_worker import work_until  # takes long to import

    for number in range(threads):
        threading.Thread(
            target=work_until, args=(app, ended), name=f"worker-{number}", daemon=True
        ).start()
    sweep_until(app, ended, threads=threads)
