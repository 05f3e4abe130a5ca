"""Whether the process lives."""

from flask import Blueprint

bp = Blueprint("health", __name__)


@bp.get("/healthz")
def healthz() -> dict[str, str]:
    """The process answers; touches neither database nor Redis."""
    return {"status": "ok"}
