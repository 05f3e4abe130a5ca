"""What a trial is, as its page carries it: signed, so that it comes back as it was made."""

from dataclasses import fields
from functools import lru_cache
from typing import Any

from itsdangerous import BadData
from itsdangerous.url_safe import URLSafeSerializer

from webapp.config import settings
from webapp.domain.drafts.models import Draft
from webapp.domain.follow_ups.asked import AskedFollowUp
from webapp.domain.respondents.trial import Decided, Trial
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import ANSWER_MAX_CHARS

CARRIED_MAX_CHARS = 512 * 1024  # our choice: leaves room for one more answer in a form's body
NAMES = tuple(field.name for field in fields(Trial))
# a page that another version of the application made is refused, not misread
LAYOUT = "-".join((*NAMES, *Decided._fields, *AskedFollowUp._fields))


def carry(trial: Trial, draft: Draft) -> str:
    """The trial as a field of the page, with the draft and its revision."""
    values = {name: getattr(trial, name) for name in NAMES}
    return str(_signer().dumps([draft.id, draft.content_hash, values]))


def require_room(trial: Trial, draft: Draft) -> None:
    """Raise InvalidInput `answer_too_long` if the page cannot carry it all."""
    longest = max(map(len, (*trial.answers.values(), *trial.unsent.values())), default=0)
    if longest > ANSWER_MAX_CHARS or len(carry(trial, draft)) > CARRIED_MAX_CHARS:
        raise InvalidInput(
            PageCode.ANSWER_TOO_LONG,
            "That is more than this page can carry along.",
            "Shorten it, or start over.",
            field="answer",
        )


def read_carried(text: str, draft: Draft) -> Trial | None:
    """What `carry` made, None if the draft is another revision now.

    Raises InvalidInput `form_unreadable` for anything else, such as the page of another draft.
    """
    try:
        draft_id, content_hash, values = _signer().loads(text)
    except BadData:
        raise _unreadable() from None
    if draft_id != draft.id:
        raise _unreadable()
    return _read(values) if content_hash == draft.content_hash else None


def _read(values: dict[str, Any]) -> Trial:
    lists = {
        "skipped": tuple(values["skipped"]),
        "asked": tuple(map(AskedFollowUp._make, values["asked"])),
        "decided": {key: Decided._make(each) for key, each in values["decided"].items()},
    }
    return Trial(**values | lists)


def _signer() -> URLSafeSerializer:
    return _signer_of(settings().secret_key)


@lru_cache
def _signer_of(secret_key: str) -> URLSafeSerializer:
    return URLSafeSerializer(secret_key, salt=f"trial {LAYOUT}")


def _unreadable() -> InvalidInput:
    return InvalidInput(
        PageCode.FORM_UNREADABLE,
        "This page was not sent as it was made.",
        "Nothing was changed. Open the draft, and try it once more.",
    )
