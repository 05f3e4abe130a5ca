"""Rows that are valid by default: spell out only what matters. All need an application context."""

import secrets
from typing import Any

from webapp.database import db, new_id, utc_now
from webapp.domain.accounts import Account


def make_account(**changed: Any) -> Account:
    """A committed account with a unique address and no usable password."""
    values: dict[str, Any] = {
        "id": new_id("acc"),
        "email": f"{secrets.token_hex(4)}@example.com",
        "name": "Robin Example",
        "password_hash": "!",
        "created_at": utc_now(),
    }
    account = Account(**values | changed)
    db.session.add(account)
    db.session.commit()
    return account
