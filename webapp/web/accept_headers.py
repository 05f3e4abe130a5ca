"""What clients accept. Only the beginning of these headers is read: each entry takes time.

Werkzeug needs 0.1 s for a header of 60 KiB, which is 200 times as long as a page takes.
"""

from functools import lru_cache

from flask import request
from werkzeug.datastructures import LanguageAccept, MIMEAccept
from werkzeug.http import parse_accept_header

READ_CHARS = 1000  # our choice: several times what browsers send


def accepted_languages() -> LanguageAccept:
    """Language tags with their quality, best first."""
    return parse_accept_header(_beginning("Accept-Language"), LanguageAccept)


def accepts_gzip() -> bool:
    """Whether a compressed response can be read."""
    return parse_accept_header(_beginning("Accept-Encoding")).quality("gzip") > 0


def accepts(media_type: str) -> bool:
    """Whether the client accepts this type; without an Accept header it accepts any."""
    return _names(_beginning("Accept"), media_type)


@lru_cache(maxsize=128)  # of the processor time of `server/discover` 8 %
def _names(said: str, media_type: str) -> bool:
    return not said.strip() or parse_accept_header(said, MIMEAccept)[media_type] > 0


def _beginning(header: str) -> str:
    return request.headers.get(header, "")[:READ_CHARS]
