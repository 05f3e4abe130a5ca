"""Pictures of who asks: small PNG files of ours, kept while the account or a form shows them."""

import hashlib

from sqlalchemy import ForeignKey, LargeBinary, String, bindparam, delete, select
from sqlalchemy.orm import Mapped, mapped_column

from webapp.database import Base, db, read_rows, write_transaction
from webapp.domain.accounts.models import Account
from webapp.domain.forms.models import Form, shared_form


class Picture(Base):
    """A picture of an account by the SHA-256 of its content."""

    __tablename__ = "pictures"

    account_id: Mapped[str] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), primary_key=True)
    content: Mapped[bytes] = mapped_column(LargeBinary)


def set_picture(account_id: str, content: bytes) -> None:
    """Show this picture from now on, b"" for none. Forms that are out keep theirs."""
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
    """A picture of the account."""
    found = read_rows(_OWN, account=account_id, digest=digest)
    return bytes(found[0].content) if found else None


def read_shared_picture(share_token: str, digest: str) -> bytes | None:
    """The picture that the form behind a public link shows; None for another one."""
    found = read_rows(_SHARED, share_token=share_token, digest=digest)
    return bytes(found[0].content) if found else None


_OWN = select(Picture.content).where(
    Picture.account_id == bindparam("account"), Picture.digest == bindparam("digest")
)
_SHARED = (
    select(Picture.content)
    .join(Form, Form.account_id == Picture.account_id)
    .where(
        shared_form(bindparam("share_token")),
        Form.asker_picture == Picture.digest,
        Picture.digest == bindparam("digest"),
    )
)
