"""A subscription as asked for, and the digests that identify it and its address."""

import hashlib
from typing import NamedTuple

import orjson

from webapp.domain.events.protocol import EVENT_NAME
from webapp.domain.shared.vocabulary import ErrorProfile


class Asked(NamedTuple):
    """A subscription as asked for, its values checked by the caller.

    url     verbatim: receivers tell their subscriptions apart by its query
    host    of the url, with its port
    cursor  a new or lapsed subscription replays what came after it
    error_profile  None where the client is told no numbers: what was known before stays
    """

    account_id: str
    form_id: str
    grant_id: str
    url: str
    host: str
    secret: str
    ttl_seconds: int | None = None
    cursor: str | None = None
    max_age_ms: int | None = None
    error_profile: ErrorProfile | None = None


def subscription_id(account_id: str, form_id: str, url: str) -> str:
    """`sub_` and 32 digits, the same for the same account, address, event and arguments."""
    return f"sub_{_digest(account_id, url, EVENT_NAME, {'formId': form_id})[:32]}"


def endpoint_id(account_id: str, url: str) -> str:
    """Of an address as an account uses it."""
    return _digest(account_id, url)


def _digest(*parts: object) -> str:
    """SHA-256 of the canonical JSON of the parts: sorted keys, no spaces, UTF-8."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
