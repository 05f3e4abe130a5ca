"""Failures as the contract's Error: four fields, worded alike for people and programs."""

import logging
from http import HTTPStatus
from typing import cast

from flask import Blueprint, Response, g, request
from flask_limiter import RateLimitExceeded
from werkzeug.exceptions import HTTPException, MethodNotAllowed

from api import bodies, waiting
from api.wire.types import Error
from webapp.base import config, errors
from webapp.base.database import failures, release_connections
from webapp.oauth.guard import Unauthenticated
from webapp.voice.audio_store import AudioStoreUnavailable
from webapp.web import hosts, limiter

log = logging.getLogger(__name__)
bp = Blueprint("api", __name__, url_prefix="/api")  # of all routes under `{base_url}`

WAIT_BY_REST = f"GET {{address}}?wait={waiting.WAIT_MAX_SECONDS}"
RECONNECT_SECONDS = 5  # after a stream was refused for lack of room; also in error_codes.toml


def answer_failures(blueprint: Blueprint) -> None:
    """Answer the failures of all routes of a blueprint; call this before registering it."""
    blueprint.register_error_handler(errors.Outcome, outcome)
    blueprint.register_error_handler(HTTPException, http_problem)
    blueprint.register_error_handler(Exception, unexpected)


def outcome(failure: errors.Outcome) -> Response:
    """Answer an expected failure of a use case or of the guard."""
    if isinstance(failure.code, errors.PageCode):  # the contract has no such code
        return unexpected(failure)
    headers = {}
    draft_id = (request.view_args or {}).get("draft_id")
    if isinstance(failure, Unauthenticated):
        headers["WWW-Authenticate"] = failure.challenge
    if isinstance(failure, errors.RateLimited):
        headers["Retry-After"] = str(failure.seconds)
    if isinstance(failure, errors.StateConflict) and draft_id:
        headers["Link"] = bodies.review_link(draft_id)
    return _answer(error_fields(failure, WAIT_BY_REST), headers)


def http_problem(error: HTTPException) -> Response:
    """Answer a refusal by the router, the limiter or the HTTP layer."""
    if isinstance(error, RateLimitExceeded):
        return outcome(rate_limited(error))
    if isinstance(error, MethodNotAllowed):
        return error_answer(
            errors.ErrorCode.METHOD_NOT_ALLOWED,
            f"{request.method[:20]} is not possible at this address.",
            "Use a method that the Allow header names.",
            {"Allow": ", ".join(sorted(error.valid_methods or ()))},
        )
    if isinstance(error, hosts.UnknownHost):
        return error_answer(
            errors.ErrorCode.VALIDATION_FAILED,
            f"Host: {error.description}",
            f"Call it at {config.settings().public_url} instead. If a proxy is in front, let it "
            "pass on the header Host.",
        )
    if error.code == HTTPStatus.NOT_FOUND:
        return always_refused(errors.ErrorCode.NOT_FOUND)
    if error.code is not None and error.code < HTTPStatus.INTERNAL_SERVER_ERROR:
        return error_answer(
            errors.ErrorCode.VALIDATION_FAILED,
            "The request could not be read.",
            "Send a complete HTTP request as the OpenAPI document describes it.",
        )
    return _answer(_internal_error())


def unexpected(error: Exception) -> Response:
    """Answer a fault of the server or the storage; uncommitted changes are rolled back."""
    return _answer(unexpected_fields(error))


def unexpected_fields(error: Exception) -> Error:
    """Log an unexpected error, release the connections, and return its four fields."""
    log.exception("request failed", extra={"endpoint": request.endpoint})
    release_connections()
    if not (failures.is_away(error) or isinstance(error, AudioStoreUnavailable)):
        return _internal_error()
    message, resolution = errors.ErrorCode.STORAGE_UNAVAILABLE.said
    if failures.may_have_stored():
        message = "The storage stopped answering; nobody knows whether this was carried out."
    return four_fields(errors.ErrorCode.STORAGE_UNAVAILABLE, message, resolution)


def always_refused(code: errors.ErrorCode, headers: dict[str, str] | None = None) -> Response:
    """Answer with the fixed wording of `code`."""
    message, resolution = code.said
    return error_answer(code, message, resolution, headers)


def error_answer(
    code: errors.ErrorCode, message: str, resolution: str, headers: dict[str, str] | None = None
) -> Response:
    """Answer with the four fields and the status of the code."""
    return _answer(four_fields(code, message, resolution), headers)


def _answer(fields: Error, headers: dict[str, str] | None = None) -> Response:
    return bodies.json_answer(fields, cast(errors.ErrorCode, fields["code"]).status, headers)


def error_fields(failure: errors.Outcome, wait: str) -> Error:
    """Return the four fields of an expected failure, whose code must be the contract's.

    wait  the call that waits for a confirmation; {address} is the draft's
    """
    resolution = failure.resolution
    if isinstance(failure, errors.NotConfirmed):  # a full stop would be read as part of the address
        page = bodies.review_url(failure.draft_id)
        call = wait.format(address=bodies.draft_location(failure.draft_id))
        resolution += f" The review page is {page} and {call} waits until it is confirmed."
    of_field = isinstance(failure, errors.StateConflict) and failure.field
    message = f"{failure.field}: {failure.message}" if of_field else failure.message
    return four_fields(cast(errors.ErrorCode, failure.code), message, resolution)


def four_fields(code: errors.ErrorCode, message: str, resolution: str) -> Error:
    """Return the contract's Error; characters that UTF-8 cannot encode are replaced."""
    message, resolution = (
        text.encode("utf-8", "replace").decode() for text in (message, resolution)
    )
    return Error(error=message, code=code, message=message, resolution=resolution)


def rate_limited(error: RateLimitExceeded) -> errors.RateLimited:
    """Convert the limiter's refusal to an expected failure."""
    message = f"Too many write operations: {limiter.limit_in_words(error)}."
    return too_many(message, limiter.seconds_to_wait(error))


def too_many(message: str, seconds: int) -> errors.RateLimited:
    """Return the refusal of a request that may be sent again after `seconds`."""
    resolution = f"Send the same request again in {limiter.time_in_words(seconds)}."
    return errors.RateLimited(message, resolution, seconds)


def _internal_error() -> Error:
    return four_fields(
        errors.ErrorCode.INTERNAL_ERROR,
        "The service could not complete the request.",
        "Send the same request again; if it fails again, tell the operator of this server the "
        f"request id {g.get('request_id', 'in the header X-Request-Id')}.",
    )
