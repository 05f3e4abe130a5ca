"""Query parameters of several routes."""

from flask import request

from webapp.domain.shared.error_codes import ErrorCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import WAIT_MAX_SECONDS
from webapp.domain.shared.validation_errors import sent
from webapp.wire.timestamps import parse_since


def given_since() -> int | None:
    """`since` in milliseconds, None without one. raises InvalidInput `invalid_since`"""
    given = request.args.get("since")
    return None if given is None else parse_since(given)


def wait_seconds(waited_for: str) -> int:
    """`wait`, 0 without one; `waited_for` in words. raises InvalidInput `validation_failed`"""
    text = request.args.get("wait", "0")
    if not (text.isascii() and text.isdigit() and len(text) < 3 and int(text) <= WAIT_MAX_SECONDS):
        raise InvalidInput(
            ErrorCode.VALIDATION_FAILED,
            f"wait: is {sent(text)}; a whole number from 0 to {WAIT_MAX_SECONDS} is needed.",
            f"Send the seconds to wait for {waited_for}, or leave it out.",
            field="wait",
        )
    return int(text)
