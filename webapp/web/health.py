"""Liveness and readiness probes."""

import threading
from concurrent.futures import Future
from contextlib import suppress
from http import HTTPStatus

from flask import Blueprint, Flask, current_app, g

from webapp.base.config import settings
from webapp.base.database import is_read_only, schema
from webapp.base.database.failures import STORAGE_FAILURES
from webapp.web import limiter, wakeups

REDIS_SECONDS = 0.5
DATABASE_SECONDS = 1.5

_lock = threading.Lock()
bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """Liveness: uses neither the database nor Redis."""
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], HTTPStatus]:
    """Readiness: 503 while the server stops, or unless the database accepts writes in our schema.

    Redis may be unavailable. The answer comes within DATABASE_SECONDS even if the database hangs.
    """
    look = _begin_look()
    redis = redis_state(settings().redis_url)
    database = "unreachable"
    with suppress(TimeoutError):
        database = look.result(DATABASE_SECONDS)
    ready = database == "ok" and not wakeups.wakeups().stopped
    state = {
        "status": "ok" if ready else "unavailable",
        "database": database,
        "redis": redis,
    }
    return state, HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE


def _begin_look() -> "Future[str]":
    """Return the running database check, or start one; concurrent probes share its result."""
    app = current_app._get_current_object()  # type: ignore[attr-defined]
    with _lock:
        look: Future[str] | None = app.extensions.get("readiness")
        if look is None or look.done():
            look = Future()
            threading.Thread(
                target=_look_into, args=(app, look), name="readiness", daemon=True
            ).start()
            app.extensions["readiness"] = look  # stored last: without its thread it never ends
        return look


def _look_into(app: Flask, look: "Future[str]") -> None:
    """Check the database; the result is `ok` or the problem."""
    found = "unreachable"
    try:
        with suppress(*STORAGE_FAILURES), app.app_context():
            g.patience = DATABASE_SECONDS
            found = schema.refusal() or ("it is read-only" if is_read_only() else "ok")
    finally:
        look.set_result(found)


def redis_state(url: str | None) -> str:
    """Return `ok`, `not used`, or `degraded` without an answer within REDIS_SECONDS."""
    if url is None:
        return "not used"
    import redis  # takes long to import

    client = redis.Redis.from_url(url, **limiter.redis_options(REDIS_SECONDS))
    try:
        with client:
            client.ping()
    except redis.RedisError:
        return "degraded"
    return "ok"
