"""RQ in a thread of this process: no signals, no child processes, no remote commands."""

import logging
import threading
import time

from flask import Flask
from rq import Queue, SimpleWorker
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.timeouts import TimerDeathPenalty

from jobs.queue import WAKE, wake_up_queue

WORKER_TTL = 60  # seconds; RQ notices a lost connection within this time
RESTART_SECONDS = 1.0

log = logging.getLogger("askback.deliveries")


class ThreadWorker(SimpleWorker):
    """A worker that can run alongside others in one process."""

    death_penalty_class = TimerDeathPenalty
    max_connection_wait_time = 5.0

    def execute_job(self, job: Job, queue: Queue) -> None:
        """Run only our own jobs: anybody who writes to Redis could name any function."""
        if job.func_name == WAKE:
            super().execute_job(job, queue)
        else:
            log.warning("a job of somebody else was dropped")
            job.delete()

    def _install_signal_handlers(self) -> None:
        """Install nothing: signals belong to the process."""

    def subscribe(self) -> None:
        """Subscribe to no commands: each worker would need a thread and a connection for them."""


def work_until(app: Flask, ended: threading.Event, name: str) -> None:
    """Take wake-ups, with a new worker whenever one ends: RQ workers quit on errors of Redis."""
    for logger in ("rq.worker", "rq.job", "rq.registry"):
        # we log the loss of Redis ourselves, once
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    while not ended.is_set():
        try:
            with app.app_context():
                worker = ThreadWorker(
                    [name],
                    connection=wake_up_queue(name).client(seconds=WORKER_TTL),
                    worker_ttl=WORKER_TTL,
                    serializer=JSONSerializer,
                )
                worker.work(logging_level="CRITICAL")
        except Exception:
            log.debug("a worker of the queue ended", exc_info=True)
        time.sleep(RESTART_SECONDS)
