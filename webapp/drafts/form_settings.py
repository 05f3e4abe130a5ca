"""Settings of a published form: its language, its picture, and the sites that may embed it."""

import hashlib
import re

from sqlalchemy import ForeignKey, LargeBinary, String, bindparam, delete, select, update
from sqlalchemy.orm import Mapped, mapped_column

from webapp.base.database import Base, db, execute, read_rows, write_transaction
from webapp.base.errors import InvalidInput, PageCode
from webapp.records.accounts.models import Account
from webapp.records.forms import Form, no_form, owned_form, shared_form

FRAME_ORIGINS_MAX = 10  # keeps the header short


# ISO 639-1, as Whisper and OpenAI-compatible services expect it
SPOKEN_LANGUAGES = (
    *("af", "ar", "az", "be", "bg", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "es", "et"),
    *("fa", "fi", "fr", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "kk", "kn"),
    *("ko", "lt", "lv", "mi", "mk", "mr", "ms", "ne", "nl", "no", "pl", "pt", "ro", "ru", "sk"),
    *("sl", "sr", "sv", "sw", "ta", "th", "tl", "tr", "uk", "ur", "vi", "zh"),
)


def set_spoken_language(account_id: str, form_id: str, language: str) -> None:
    """Store one of SPOKEN_LANGUAGES, or "" for no particular language."""
    if language and language not in SPOKEN_LANGUAGES:
        raise InvalidInput(
            PageCode.LANGUAGE_UNKNOWN,
            "This language is not in the list.",
            "Choose one of the list, or none.",
            "language",
        )
    _set(account_id, form_id, spoken_language=language)


LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
ORIGIN = re.compile(rf"https://({LABEL}(?:\.{LABEL})*)(?::([0-9]{{1,5}}))?/?")
HOST_MAX_CHARS = 253  # RFC 1035 section 2.3.4
_ORIGINS = select(Form.frame_origins).where(shared_form(bindparam("share_token")))


def allow_embedding(account_id: str, form_id: str, text: str) -> None:
    """Allow only the origins in `text` to embed the form; an empty text allows none."""
    _set(account_id, form_id, frame_origins=" ".join(parse_origins(text)))


def _set(account_id: str, form_id: str, **values: str) -> None:
    with write_transaction():
        changed = execute(update(Form).where(owned_form(account_id, form_id)).values(values))
        if not changed.rowcount:
            raise no_form()


def parse_origins(text: str) -> list[str]:
    """Return the origins in `text`, split at white space and commas, without repeats."""
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
    """Return the origins that may embed the form behind a link, separated by spaces, or ""."""
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


class Picture(Base):
    """A picture of an account, identified by the SHA-256 of its content."""

    __tablename__ = "pictures"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


def set_picture(account_id: str, content: bytes) -> None:
    """Set the picture of the account, b"" for none; published forms keep theirs."""
    digest = hashlib.sha256(content).hexdigest() if content else ""
    with write_transaction():
        account = db.session.get_one(Account, account_id, with_for_update=True)
        account.picture = digest
        if content:
            db.session.merge(Picture(account_id=account_id, digest=digest, content=content))
        shown = select(Form.asker_picture).where(Form.account_id == account_id)
        db.session.execute(
            delete(Picture).where(
                Picture.account_id == account_id,
                Picture.digest != digest,
                Picture.digest.not_in(shown),
            )
        )


def read_picture(account_id: str, digest: str) -> bytes | None:
    """Return a picture of the account, or None."""
    found = db.session.get(Picture, (account_id, digest))
    return found.content if found else None


def read_shared_picture(share_token: str, digest: str) -> bytes | None:
    """Return the picture that the form behind a public link shows; None for any other."""
    found = read_rows(_SHARED, share_token=share_token, digest=digest)
    return bytes(found[0].content) if found else None


_SHARED = (
    select(Picture.content)
    .join(Form, Form.account_id == Picture.account_id)
    .where(
        shared_form(bindparam("share_token")),
        Form.asker_picture == Picture.digest,
        Picture.digest == bindparam("digest"),
    )
)
