"""Actions for which a creator shows by the password that it is them."""

from collections.abc import Callable
from typing import ParamSpec

from flask import request
from flask.typing import ResponseReturnValue
from flask_login import current_user

from webapp.database import utc_now
from webapp.domain.accounts import credentials
from webapp.domain.audit.trail import AuditKind
from webapp.domain.shared.errors import InvalidInput
from webapp.pages.creator.account.sign_in import ACCOUNT_RATE, signed_in_recently
from webapp.pages.creator.request import creator_id
from webapp.web import request_audit
from webapp.web.rate_limits.limiter import is_failure, limiter

P = ParamSpec("P")
View = Callable[P, ResponseReturnValue]


def limited_tries(kind: AuditKind) -> Callable[[View[P]], View[P]]:
    """The strict limit of an account for failed attempts, which are audited as `kind`."""
    return limiter.limit(
        lambda: ACCOUNT_RATE,
        key_func=_own_key,
        deduct_when=is_failure,
        on_breach=request_audit.telling_refusals(kind, _own_key, by=request_audit.creator),
    )


def require_own_password(kind: AuditKind) -> None:
    """The field `current` holds the password, unless this browser signed in just now.

    kind    what a wrong one is audited as
    raises  InvalidInput
    """
    if signed_in_recently():
        return
    try:
        credentials.check_own_password(current_user, request.form.get("current", ""))
    except InvalidInput as refusal:
        note_wrong_password(kind, refusal)
        raise


def note_wrong_password(kind: AuditKind, refusal: InvalidInput) -> None:
    """Audit the attempt if it was refused for the field `current`."""
    if refusal.field == "current":
        request_audit.note_failure(kind, creator_id(), by=request_audit.creator(), now=utc_now())


def _own_key() -> str:
    return str(getattr(current_user, "id", ""))
