"""Completed responses that the creator of the form has not read yet.

A form has one mark up to which everything is read; a response that was read ahead of it has a mark
of its own. The form's mark follows up to the oldest unread response, so that a search for unread
responses reads nothing older.
"""

from collections import Counter
from collections.abc import Collection, Iterable

from sqlalchemy import BigInteger, and_, bindparam, case, func, literal, select, update

from webapp.base.database import among, execute, read_rows, tried_again, write_transaction
from webapp.records.forms import Form, FormRow, lock_form, no_form, owned_form
from webapp.records.responses.models import IS_SHOWN, ResponseSession, SessionAnswers

UNREAD_COUNTED = 99  # per form

_S = ResponseSession
_UNREAD = and_(
    _S.form_id == Form.id,
    _S.completed_stamp > Form.seen_stamp,
    _S.completed_stamp > func.coalesce(_S.read_stamp, 0),
)


def count_unread(form_ids: Collection[str]) -> Counter[str]:
    """Count unread responses by form id, at most UNREAD_COUNTED + 1 each, in one statement."""
    found = read_rows(_COUNT_UNREAD, forms=list(form_ids)) if form_ids else ()
    return Counter({row.id: row.unread for row in found})


def new_among(form: FormRow, people: Iterable[SessionAnswers]) -> set[str]:
    """Return the ids of the sessions of which the creator has not read everything."""
    newest = {
        each.session.id: newest_stamp(
            each.session.completed_stamp, *(a.stamp for a in each.answers)
        )
        for each in people
    }
    ids = [session_id for session_id, stamp in newest.items() if stamp > form.seen_stamp]
    found = read_rows(_READ_STAMPS, sessions=ids) if ids else ()
    return {row.id for row in found if newest[row.id] > (row.read_stamp or 0)}


def newest_stamp(completed: int | None, *answers: int) -> int:
    """Return the newest stamp of a response: of its completion, or of one of these answers."""
    return max([completed or 0, *answers])


def next_unread(form: FormRow, session_id: str = "", before: int | None = None) -> str | None:
    """Return the id of the newest unread response before `before` (ms), or else of the newest."""
    if (form.completed_stamp or 0) <= form.seen_stamp:
        return None
    newest = form.last_stamp + 1
    for bound in (before or newest, newest):
        found = read_rows(_NEXT_UNREAD, form=form.id, but=session_id, before=bound)
        if found:
            return str(found[0].id)
    return None


@tried_again
def mark_read(account_id: str, form_id: str, session_id: str, stamp: int) -> None:
    """Mark one response as read up to `stamp`, as its page showed it. Raises NotFound."""
    with write_transaction():
        execute(_MARK_READ, form=form_id, session=session_id, stamp=stamp)
        lock_form(account_id, form_id)  # waits for concurrent completions
        execute(_FOLLOW, form=form_id)


@tried_again
def mark_all_read(account_id: str, form_id: str, stamp: int) -> None:
    """Mark everything of a form as read up to `stamp`, as its page showed it. Raises NotFound."""
    with write_transaction():
        found = execute(_MARK_ALL_READ, account=account_id, form=form_id, stamp=stamp)
        if not found.rowcount:
            raise no_form()


_READ_STAMPS = select(_S.id, _S.read_stamp).where(among(_S.id, "sessions"))
_SOME_UNREAD = select(literal(1)).where(_UNREAD, IS_SHOWN).limit(UNREAD_COUNTED + 1).correlate(Form)
_UNREAD_OF_FORM = select(func.count()).select_from(_SOME_UNREAD.subquery()).scalar_subquery()
_COUNT_UNREAD = select(Form.id, _UNREAD_OF_FORM.label("unread")).where(
    among(Form.id, "forms"), Form.completed_stamp > Form.seen_stamp
)
_NEXT_UNREAD = (
    select(_S.id)
    .join(Form, Form.id == _S.form_id)
    .where(Form.id == bindparam("form"), _UNREAD, IS_SHOWN)
    .where(_S.id != bindparam("but"), _S.completed_stamp < bindparam("before"))
    .order_by(_S.completed_stamp.desc())
    .limit(1)
)
_OLDEST_UNREAD = (
    select(_S.completed_stamp - 1)
    .where(_UNREAD)
    .order_by(_S.completed_stamp)
    .limit(1)
    .correlate(Form)
    .scalar_subquery()
)
_STAMP = bindparam("stamp", type_=BigInteger)
_MARK_READ = (
    update(_S)
    .where(_S.id == bindparam("session"), _S.form_id == bindparam("form"))
    .where(func.coalesce(_S.read_stamp, 0) < _STAMP)
    .values(read_stamp=_STAMP)
)
_FOLLOW = (
    update(Form)
    .where(Form.id == bindparam("form"), Form.completed_stamp > Form.seen_stamp)
    .values(seen_stamp=func.coalesce(_OLDEST_UNREAD, Form.completed_stamp))
)
# the mark never moves back, nor beyond the newest stamp
_MARK_ALL_READ = (
    update(Form)
    .where(owned_form(bindparam("account"), bindparam("form")))
    .values(
        seen_stamp=case(
            (_STAMP.between(Form.seen_stamp, Form.last_stamp), _STAMP), else_=Form.seen_stamp
        )
    )
)
