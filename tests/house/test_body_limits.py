"""Bodies of every size over the wire: taken whole, or refused with nothing stored."""

import json
import secrets
from collections.abc import Iterator

import pytest
from flask import Flask
from sqlalchemy import func, select

from tests.factories import make_form
from tests.pages.respondent import stored, texts
from tests.serving import exchange, new_app, serving
from webapp.config import Settings
from webapp.database import db, utc_now
from webapp.domain.accounts import Account
from webapp.domain.drafts import Draft
from webapp.domain.limits import ANSWER_MAX_CHARS, API_BODY_MAX_BYTES
from webapp.domain.terms import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.posted import BODY_MAX_BYTES

DRAFT = b'{"title": "Rota"}'


@pytest.fixture
def served(app: Flask, settings: Settings) -> Iterator[Flask]:
    """A server on the database of `app`."""
    other = new_app(settings)
    with serving(other):
        yield other


def post(app: Flask, path: str, headers: dict[str, str], body: bytes, *, chunked: bool) -> bytes:
    place = f"127.0.0.1:{app.config['SETTINGS'].port}"
    length = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
    lines = {"Host": place, "Connection": "close", **headers, **length}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    return exchange(app, f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + sent)


@pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
@pytest.mark.parametrize(
    ("size", "status"),
    [
        (API_BODY_MAX_BYTES - 1, 201),
        (API_BODY_MAX_BYTES, 201),
        (API_BODY_MAX_BYTES + 1, 400),
        (10 * API_BODY_MAX_BYTES, 400),
        (20_000_000, 400),
    ],
)
def test_the_api_takes_a_body_up_to_its_limit(
    served: Flask, account: Account, size: int, status: int, *, chunked: bool
) -> None:
    with served.app_context():
        audience = served.config["SETTINGS"].api_url
        token = issue_token(account.id, [Scope.FORMS_WRITE], audience, now=utc_now())
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    answer = post(served, "/api/drafts", headers, DRAFT.ljust(size), chunked=chunked)

    body = json.loads(answer.partition(b"\r\n\r\n")[2])
    with served.app_context():
        drafts = db.session.scalar(select(func.count()).select_from(Draft))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert body.get("code") == (None if status == 201 else "payload_too_large")
    assert drafts == (1 if status == 201 else 0)


def answer_body(text: str, size: int = 0) -> bytes:
    """The fields of an answer; `size` bytes when the text is stretched to it."""
    keys = f"session={secrets.token_urlsafe(24)}&answer_key={secrets.token_urlsafe(24)}&answer="
    return (keys + text).encode().ljust(size, b"x")


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
def test_the_longest_answer_arrives_whole(
    served: Flask, account: Account, *, chunked: bool
) -> None:
    with served.app_context():
        form = make_form(account.id)
    text = "é" * ANSWER_MAX_CHARS
    body = answer_body("%C3%A9" * ANSWER_MAX_CHARS)

    answer = post(served, f"/r/{form.share_token}/q/1", FORM, body, chunked=chunked)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert texts(served) == [text]


@pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
@pytest.mark.parametrize(
    ("size", "status"),
    [
        (BODY_MAX_BYTES - 1, 422),
        (BODY_MAX_BYTES, 422),
        (BODY_MAX_BYTES + 1, 413),
        (10 * BODY_MAX_BYTES, 413),
    ],
)
def test_an_answer_that_is_too_long_is_never_cut(
    served: Flask, account: Account, size: int, status: int, *, chunked: bool
) -> None:
    with served.app_context():
        form = make_form(account.id)

    path = f"/r/{form.share_token}/q/1"
    answer = post(served, path, FORM, answer_body("x", size), chunked=chunked)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert stored(served) == (0, 0)
