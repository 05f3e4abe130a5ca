"""The shortest way through RQ: a route that commits a row and enqueues, a job that signs and posts.

`bare_hop PORT RECEIVER SECRET DATABASE_URL web|worker|both [REDIS_URL]`: what serves the route,
what works, or both in one process. Without a URL, a new thread posts. The worker class, its
threads and the options of a job are those of the product. The job needs no database.
"""

import http.client
import sys
import threading
import time
from datetime import UTC, datetime

import redis
import waitress
from flask import Flask
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer
from sqlalchemy import Engine, create_engine, insert
from standardwebhooks import Webhook

from jobs.queue import WAKE_UP_SECONDS
from jobs.rq_worker import WORKER_TTL, ThreadWorker
from tests.bench.ceiling import ROWS, WORDS
from webapp.base.database import prepare_engine
from webapp.base.database.sqlite import IMMEDIATE

NAME = "bare-hop"
THREADS = 16
BODY = '{"eventId":"evt_1","name":"response.submitted","data":{"answerCount":3}}'


def post_signed(port: int, event_id: str, secret: str) -> None:
    """The job."""
    now = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(event_id, now, BODY),
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("POST", "/", BODY, headers)
    assert connection.getresponse().status == 204
    connection.close()


def create_app(receiver: int, secret: str, engine: Engine, client: redis.Redis | None) -> Flask:
    """`POST /hop/<event_id>` answers the moment at which it began to enqueue."""
    app = Flask(__name__)
    writing = engine.execution_options(**{IMMEDIATE: True})
    queue = client and Queue(NAME, connection=client, serializer=JSONSerializer)

    @app.get("/healthz")
    def healthz() -> str:
        return "ok"

    @app.post("/hop/<event_id>")
    def hop(event_id: str) -> str:
        with writing.begin() as connection:
            row = {"id": event_id, "form_id": "frm_1", "words": WORDS, "stamp": 1}
            connection.execute(insert(ROWS), row)
        began = time.monotonic()
        if not queue:
            arguments = (receiver, event_id, secret)
            threading.Thread(target=post_signed, args=arguments, daemon=True).start()
            return str(began)
        job = Queue.prepare_data(
            "tests.bench.events.bare_hop.post_signed",
            (receiver, event_id, secret),
            timeout=-1,
            result_ttl=0,
            ttl=WAKE_UP_SECONDS,
            failure_ttl=WAKE_UP_SECONDS,
        )
        queue.enqueue_many([job])
        return str(began)

    return app


class HopWorker(ThreadWorker):
    """The worker of the product, for another function."""

    execute_job = SimpleWorker.execute_job


def work(client: redis.Redis) -> None:
    options = {"worker_ttl": WORKER_TTL, "serializer": JSONSerializer, "log_job_description": False}
    HopWorker([NAME], connection=client, **options).work(logging_level="CRITICAL")


def main(
    port: str, receiver: str, secret: str, database_url: str, part: str, redis_url: str = ""
) -> None:
    client = redis.Redis.from_url(redis_url) if redis_url else None
    if client and part in ("worker", "both"):
        for _ in range(THREADS):
            threading.Thread(target=work, args=(client,), daemon=True).start()
    if part in ("web", "both"):
        engine = create_engine(database_url)
        prepare_engine(engine)
        app = create_app(int(receiver), secret, engine, client)
        waitress.serve(app, host="127.0.0.1", port=int(port), threads=16, _quiet=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
