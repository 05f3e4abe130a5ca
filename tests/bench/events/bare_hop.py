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
from urllib.parse import urlsplit

import redis
import waitress
from flask import Flask
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer
from sqlalchemy import create_engine, insert
from standardwebhooks import Webhook

from jobs.queue import WAKE_UP_SECONDS
from jobs.rq_worker import WORKER_TTL, ThreadWorker
from tests.bench.ceiling import ROWS, WORDS
from webapp.base.database import prepare_engine
from webapp.base.database.sqlite import IMMEDIATE

NAME = "bare-hop"
THREADS = 16
BODY = '{"eventId":"evt_1","name":"response.submitted","data":{"answerCount":3}}'


def post_signed(receiver: str, event_id: str, secret: str) -> None:
    """The job."""
    now = datetime.now(UTC)
    headers = {
        "Content-Type": "application/json",
        "webhook-id": event_id,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": Webhook(secret).sign(event_id, now, BODY),
    }
    connection = http.client.HTTPConnection(urlsplit(receiver).netloc, timeout=10)
    connection.request("POST", "/", BODY, headers)
    assert connection.getresponse().status == 204
    connection.close()


def create_app(receiver: str, secret: str, database_url: str, client: redis.Redis | None) -> Flask:
    """`POST /hop/<event_id>` answers the moment at which it began to enqueue."""
    app, engine = Flask(__name__), create_engine(database_url)
    prepare_engine(engine)
    writing = engine.execution_options(**{IMMEDIATE: True})
    queue = client and Queue(NAME, connection=client, serializer=JSONSerializer)
    options = {"timeout": -1, "result_ttl": 0, "ttl": WAKE_UP_SECONDS}

    @app.post("/hop/<event_id>")
    def hop(event_id: str) -> str:
        with writing.begin() as connection:
            row = {"id": event_id, "form_id": "frm_1", "words": WORDS, "stamp": 1}
            connection.execute(insert(ROWS), row)
        began, arguments = time.monotonic(), (receiver, event_id, secret)
        if queue:
            job = f"{__spec__.name}.post_signed"
            data = Queue.prepare_data(job, arguments, failure_ttl=WAKE_UP_SECONDS, **options)
            queue.enqueue_many([data])
        else:
            threading.Thread(target=post_signed, args=arguments, daemon=True).start()
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
    if client and part != "web":
        for _ in range(THREADS):
            threading.Thread(target=work, args=(client,), daemon=True).start()
    if part != "worker":
        app = create_app(receiver, secret, database_url, client)
        waitress.serve(app, host="127.0.0.1", port=int(port), threads=16, _quiet=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
