"""A respondent over plain HTTP: reads and posts pages as a browser without scripts would."""

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from html import unescape
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import event, func, select, update
from sqlalchemy.exc import OperationalError
from werkzeug.test import TestResponse

from webapp.base.database import db, utc_now
from webapp.records.forms import close_form
from webapp.records.responses.models import Answer, ResponseSession

HTMX = {"HX-Request": "true"}


def hidden(page: TestResponse) -> dict[str, str]:
    """The hidden fields of a page, without those of the theme switch."""
    html = re.sub(r'<form [^>]*action="/appearance".*?</form>', "", page.text, flags=re.DOTALL)
    fields = re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', html)
    return {name: unescape(value) for name, value in fields}


def form_action(page: TestResponse) -> str:
    """Where the main form of a page leads, without the query; "-" without one."""
    found = re.search(r'id="main-form" method="post" action="([^"?]*)', page.text)
    return found[1] if found else "-"


def session_in(text: str) -> str:
    """The session key in the HTML of a page."""
    return unescape(text.partition('name="session" value="')[2].partition('"')[0])


def heading(page: TestResponse) -> str:
    """The words of the first-level heading."""
    found = re.search(r"<h1[^>]*>(?:<label[^>]*>)?([^<]*)", page.text)
    return unescape(found[1]) if found else ""


def box(page: TestResponse) -> str:
    """What stands in the text box; a browser drops one line feed at its beginning."""
    found = re.search(r"<textarea[^>]*>(.*?)</textarea>", page.text, re.DOTALL)
    return unescape(found[1]).removeprefix("\n") if found else ""


@dataclass
class Respondent:
    """Answers the form at `/r/<share_token>` and remembers the page before them."""

    client: FlaskClient
    share_token: str
    page: TestResponse

    def open(self, path: str = "") -> TestResponse:
        self.page = self.client.get(f"/r/{self.share_token}{path}", follow_redirects=True)
        return self.page

    def post(self, path: str, **fields: Any) -> TestResponse:
        """Post what the page carries and `fields` to a path under the link.

        Whoever jumps to another question has not seen which answer it has.
        """
        where = f"/r/{self.share_token}{path}"
        carried = hidden(self.page)
        if where.removeprefix(form_action(self.page)) not in {"", "/skip", "/open", "/elsewhere"}:
            carried.pop("replaces", None)
        sent = carried | fields
        self.page = self.client.post(where, data=sent, follow_redirects=True)
        return self.page

    def swap(self, path: str, **fields: Any) -> TestResponse:
        """Post as htmx does; `page` stays as it is."""
        sent = hidden(self.page) | fields
        return self.client.post(f"/r/{self.share_token}{path}", data=sent, headers=HTMX)

    def answer(self, number: int | str, text: str) -> TestResponse:
        return self.post(f"/q/{number}", answer=text)

    def answer_all(self) -> TestResponse:
        """Answer the two questions of the example form; the check page is next."""
        self.answer(1, "Me")
        return self.answer(2, "It")


def arrive(client: FlaskClient, form: Any) -> Respondent:
    """A respondent who has opened the link of `form`."""
    return Respondent(client, form.share_token, client.get(f"/r/{form.share_token}"))


def stored(app: Flask) -> tuple[int, int]:
    """How many sessions and how many answers there are."""
    with app.app_context():
        sessions = db.session.scalar(select(func.count()).select_from(ResponseSession))
        answers = db.session.scalar(select(func.count()).select_from(Answer))
    return sessions or 0, answers or 0


def set_columns(app: Flask, table: Any, **values: Any) -> None:
    """Of all its rows."""
    with app.app_context():
        db.session.execute(update(table).values(values))
        db.session.commit()


def close(app: Flask, form: Any) -> None:
    with app.app_context():
        close_form(form.account_id, form.id, now=utc_now())


def texts(app: Flask) -> list[str]:
    """The texts of all answers that count, in the order they came."""
    with app.app_context():
        query = select(Answer.answer_text).where(Answer.superseded.is_(False))
        return list(db.session.scalars(query.order_by(Answer.stamp)))


@contextmanager
def storage_away(app: Flask) -> Iterator[None]:
    """Every statement fails as with a database that cannot be reached."""

    def fail(*_: Any) -> None:
        raise OperationalError("", {}, sqlite3.OperationalError("disk I/O error"))

    with app.app_context():
        engine = db.engine
    event.listen(engine, "before_cursor_execute", fail)
    try:
        yield
    finally:
        event.remove(engine, "before_cursor_execute", fail)
