"""Liveness and readiness probes."""

import threading
from http import HTTPStatus
from typing import Any

from flask import Blueprint, current_app, g

from webapp.base.config import settings
from webapp.base.database import is_read_only, schema
from webapp.base.database.failures import STORAGE_FAILURES
from webapp.web.limiter import redis_options
from webapp.web.wakeups import wakeups

REDIS_SECONDS = 0.5
DATABASE_SECONDS = 1.5

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """Liveness: uses neither the database nor Redis."""
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], HTTPStatus]:
    """Readiness: 503 while the server stops, or unless the database accepts writes in our schema.

    Redis may be unavailable. Responds within DATABASE_SECONDS even if the database hangs.
    """
    look = _Look.begun()
    redis = redis_state(settings().redis_url)
    database = look.found()
    ready = database == "ok" and not wakeups().stopped
    state = {
        "status": "ok" if ready else "unavailable",
        "database": database,
        "redis": redis,
    }
    return state, HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE


class _Look:
    """One check of the database in its own thread; concurrent probes share its result."""

    _lock = threading.Lock()

    def __init__(self, app: Any) -> None:
        self._app = app
        self._done = threading.Event()
        self._state = "unreachable"

    @classmethod
    def begun(cls) -> "_Look":
        """The check in progress, else a new one."""
        app = current_app._get_current_object()  # type: ignore[attr-defined]
        with cls._lock:
            under_way: _Look | None = app.extensions.get("readiness")
            if under_way and not under_way._done.is_set():
                return under_way
            look = cls(app)
            threading.Thread(target=look._look, name="readiness", daemon=True).start()
            app.extensions["readiness"] = look  # a check whose thread did not start would never end
            return look

    def found(self) -> str:
        """`ok`, or what is wrong; `unreachable` after DATABASE_SECONDS without a result."""
        return self._state if self._done.wait(DATABASE_SECONDS) else "unreachable"

    def _look(self) -> None:
        try:
            with self._app.app_context():
                g.patience = DATABASE_SECONDS
                self._state = schema.refusal() or ("it is read-only" if is_read_only() else "ok")
        except STORAGE_FAILURES:
            self._state = "unreachable"
        finally:
            self._done.set()


def redis_state(url: str | None) -> str:
    """`ok`, `degraded` when it does not answer within REDIS_SECONDS, or `not used`."""
    if url is None:
        return "not used"
    import redis  # takes long to import

    client = redis.Redis.from_url(url, **redis_options(REDIS_SECONDS))
    try:
        with client:
            client.ping()
    except redis.RedisError:
        return "degraded"
    return "ok"
