"""What tells subscriptions and their addresses apart: digests of what they are made of."""

import hashlib

import orjson

from webapp.domain.events.protocol import EVENT_NAME


def subscription_id(account_id: str, form_id: str, url: str) -> str:
    """`sub_` and 32 digits, the same for the same account, address, event and arguments."""
    return f"sub_{_digest(account_id, url, EVENT_NAME, {'formId': form_id})[:32]}"


def endpoint_id(account_id: str, url: str) -> str:
    """Of an address as an account uses it."""
    return _digest(account_id, url)


def _digest(*parts: object) -> str:
    """SHA-256 of the canonical JSON of the parts: sorted keys, no spaces, UTF-8."""
    return hashlib.sha256(orjson.dumps(parts, option=orjson.OPT_SORT_KEYS)).hexdigest()
