"""The origins that may embed a form in an iframe: named by its creator, none at first.

They are kept as `frame-ancestors` takes them (CSP Level 3, section 6.4.2), separated by spaces.
"""

import re

from sqlalchemy import bindparam, select, update

from webapp.database import execute, read_rows, write_transaction
from webapp.domain.forms.models import Form, no_form, owned_form, shared_form
from webapp.domain.shared.error_codes import PageCode
from webapp.domain.shared.errors import InvalidInput
from webapp.domain.shared.limits import FRAME_ORIGINS_MAX

LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
ORIGIN = re.compile(rf"https://({LABEL}(?:\.{LABEL})*)(?::([0-9]{{1,5}}))?/?")
HOST_MAX_CHARS = 253  # RFC 1035 section 2.3.4
_ORIGINS = select(Form.frame_origins).where(shared_form(bindparam("share_token")))


def allow_embedding(account_id: str, form_id: str, text: str) -> None:
    """Store the origins in `text` as the only ones that may embed the form; empty forbids it.

    raises  InvalidInput `origin_unreadable`, `too_many_origins`; NotFound
    """
    origins = " ".join(parse_origins(text))
    with write_transaction():
        changed = execute(
            update(Form).where(owned_form(account_id, form_id)).values(frame_origins=origins)
        )
        if not changed.rowcount:
            raise no_form()


def parse_origins(text: str) -> list[str]:
    """The origins in `text`, separated by white space or commas, normalized, each once.

    Only https, a host name and a port: no paths, no wildcards. raises InvalidInput
    """
    origins = list(dict.fromkeys(_origin(word) for word in re.split(r"[\s,]+", text) if word))
    if len(origins) > FRAME_ORIGINS_MAX:
        raise InvalidInput(
            PageCode.TOO_MANY_ORIGINS,
            f"There are {len(origins)} addresses.",
            f"Name at most {FRAME_ORIGINS_MAX}.",
            "origins",
        )
    return origins


def find_frame_origins(share_token: str) -> str:
    """The origins of the form behind a public link, separated by spaces; "" when there are none."""
    found = read_rows(_ORIGINS, share_token=share_token)
    return found[0].frame_origins if found else ""


def _origin(word: str) -> str:
    found = ORIGIN.fullmatch(word.lower()) if word.isascii() else None
    host, port = found.groups() if found else ("", None)
    if not 0 < len(host) <= HOST_MAX_CHARS or not 0 < int(port or 443) < 65_536:
        shown = word if len(word) <= 60 else f"{word[:59]}…"
        raise InvalidInput(
            PageCode.ORIGIN_UNREADABLE,
            f"“{shown}” is not an address of this kind.",
            "Write https:// and the name of the website, nothing after it.",
            "origins",
        )
    return f"https://{host}" + (f":{int(port)}" if port and int(port) != 443 else "")
