"""Logs requests (by route) and errors to standard output, one JSON object per line.

The log never contains a token, a share link, a query string, an answer or a value of a database
statement. So it has only the type and the code locations of an exception; failures of the storage
or the network keep their message.
"""

import logging
import random
import re
import sys
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
from flask import Flask, Response, g, has_request_context, request
from sqlalchemy.exc import OperationalError

from webapp.web.request_kind import RequestKind, request_kind

ROOT = Path(__file__).resolve().parents[2]
REQUEST_ID = re.compile(r"[A-Za-z0-9-]{8,64}")
SECRETS = re.compile(
    r"(?P<token>ask(?:ac|at|rt|cs|ag)_)\S+|(?P<link>/(?:r|join|continue|recordings)/)[^/\s?\"']+|(?<=\S)\?\S+"
)
FIELDS = (
    *("method", "route", "status", "ms", "account", "client", "endpoint", "rows", "became"),
    *("event", "outcome", "actor", "address", "subject"),
)
QUIET = {RequestKind.PROBE, RequestKind.STATIC}  # called too often to log

log = logging.getLogger("askback.requests")


def init_app(app: Flask) -> None:
    """Give each request an id, return it, and log the request; call before other extensions."""

    @app.before_request
    def begin() -> None:
        g.began = time.perf_counter()
        g.request_id = _request_id(request.headers.get("X-Request-Id", ""))

    @app.after_request
    def finish(response: Response) -> Response:
        response.headers["X-Request-Id"] = g.get("request_id", "")
        # unknown addresses and methods are not routine
        if request_kind() not in QUIET or response.status_code in {404, 405}:
            log.info("request", extra=_described(response))
        return response


def configure() -> None:
    """Send all log records to standard output: as JSON, or as short lines to a terminal."""
    handler = logging.StreamHandler(sys.stdout)
    handler.setFormatter(TerminalLines() if sys.stdout.isatty() else JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    # authlib logs tokens at DEBUG; the others repeat the request log
    for name in ("authlib", "alembic", "flask-limiter", "werkzeug"):
        logging.getLogger(name).setLevel(logging.WARNING)


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON without secrets."""

    def format(self, record: logging.LogRecord) -> str:
        return orjson.dumps(self.line(record), default=str).decode()

    def line(self, record: logging.LogRecord) -> dict[str, Any]:
        """Return the fields of a record that may be logged."""
        line: dict[str, Any] = {
            "ts": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        if has_request_context() and "request_id" in g:
            line["request_id"] = g.request_id
        line |= {name: vars(record)[name] for name in FIELDS if name in vars(record)}
        if record.exc_info and record.exc_info[1]:
            line["exception"] = list(_causes(record.exc_info[1]))
            line["trace"] = list(_locations(record.exc_info[1]))
        return line


class TerminalLines(JsonLines):
    """Formats a record as a short line in local time, for a server in a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        line = self.line(record)
        if record.name == log.name:
            text = "{status} {method} {route}  {ms} ms".format_map({"ms": "?"} | line)
        else:
            said = line["message"].replace("\n", " ")
            text = "\n    ".join([said, *line.get("exception", []), *line.get("trace", [])])
        visible = "".join(c if c.isprintable() or c == "\n" else "?" for c in text)
        return f"{time.strftime('%H:%M:%S', time.localtime(record.created))}  {visible}"


def without_secrets(text: str) -> str:
    """Return the text with `***` in place of tokens, secret links and query strings."""
    return SECRETS.sub(lambda found: f"{found['token'] or found['link'] or '?'}***", text)


def _request_id(sent: str) -> str:
    return sent if REQUEST_ID.fullmatch(sent) else f"{random.getrandbits(64):016x}"  # noqa: S311  # no secret


def _described(response: Response) -> dict[str, Any]:
    caller = g.get("caller") or g.get("agent_token")
    signed_in = g.get("_login_user")
    rule = request.url_rule
    described = {
        "method": request.method if rule else "-",  # an unknown method is text from the client
        "route": rule.rule if rule else "-",
        "status": response.status_code,
        "ms": round((time.perf_counter() - g.began) * 1000, 1) if "began" in g else None,
        "account": caller.account_id if caller else getattr(signed_in, "id", None),
        "client": getattr(caller, "client_id", None),
    }
    return {name: value for name, value in described.items() if value is not None}


def _causes(error: BaseException) -> Iterator[str]:
    """Yield the types of an exception and its causes, outermost first."""
    cause: BaseException | None = error
    while cause is not None:
        kind = f"{type(cause).__module__}.{type(cause).__qualname__}"
        is_external = isinstance(cause, OSError | OperationalError)
        yield f"{kind}: {without_secrets(str(cause))}" if is_external else kind
        cause = cause.__cause__ or cause.__context__


def _locations(error: BaseException) -> Iterator[str]:
    """Yield the code locations of the traceback, innermost last."""
    for frame in traceback.extract_tb(error.__traceback__):
        path = Path(frame.filename)
        name = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path.name
        yield f"{name}:{frame.lineno} {frame.name}"
