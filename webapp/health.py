"""Whether the process lives, and whether it can work."""

from http import HTTPStatus

import redis
from flask import Blueprint
from redis.backoff import NoBackoff
from redis.retry import Retry
from sqlalchemy.exc import SQLAlchemyError

from webapp import schema
from webapp.config import settings
from webapp.waiting import waiting

REDIS_SECONDS = 0.5

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers; touches neither database nor Redis."""
    return {"status": "ok"}


@bp.get("/readyz")
def readyz() -> tuple[dict[str, str], HTTPStatus]:
    """503 once the server stops, and unless the database answers with the schema of this code.

    Redis may be away.
    """
    database = _database()
    ready = database == "ok" and not waiting().stopped
    state = {
        "status": "ok" if ready else "unavailable",
        "database": database,
        "redis": redis_state(settings().redis_url),
    }
    return state, HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE


def _database() -> str:
    try:
        return schema.refusal() or "ok"
    except SQLAlchemyError:
        return "unreachable"


def redis_state(url: str | None) -> str:
    """`ok`, `degraded` when it does not answer within REDIS_SECONDS, or `not used`."""
    if url is None:
        return "not used"
    client = redis.Redis.from_url(
        url,
        socket_connect_timeout=REDIS_SECONDS,
        socket_timeout=REDIS_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )
    try:
        with client:
            client.ping()
    except redis.RedisError:
        return "degraded"
    return "ok"
