"""Bodies of every size over the wire: taken whole, or refused with nothing stored."""

from collections.abc import Iterator
from urllib.parse import quote

import pytest
from flask import Flask
from sqlalchemy import func, select

from api.bodies import API_BODY_MAX_BYTES
from tests.oauth.flow import bearer
from tests.serving import exchange, new_app, serving
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft
from webapp.records.responses.models import SPOKEN_ANSWER_MAX_CHARS
from webapp.web.form_body_limits import FORM_BODY_MAX_BYTES, FORM_FIELDS_MAX

chunked_or_not = pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
DRAFT, JSON = b'{"title": "Rota"}', {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@pytest.fixture
def served(app: Flask, settings: Settings) -> Iterator[Flask]:
    """A server on the database of `app`."""
    other = new_app(settings)
    with serving(other):
        yield other


def post(app: Flask, path: str, headers: dict[str, str], body: bytes, *, chunked: bool) -> bytes:
    host = f"127.0.0.1:{app.config['SETTINGS'].port}"
    length = {"Transfer-Encoding": "chunked"} if chunked else {"Content-Length": str(len(body))}
    lines = {"Host": host, "Connection": "close", **headers, **length}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    sent = b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body) if chunked else body
    return exchange(app, f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + sent)


SEVERAL = "multipart/form-data; boundary=bound"


def one_field(size: int, kind: str) -> bytes:
    """A body of this many bytes with one long field."""
    head, tail = b"email=", b""
    if kind == SEVERAL:
        head = b'--bound\r\nContent-Disposition: form-data; name="email"\r\n\r\n'
        tail = b"\r\n--bound--\r\n"
    return head + b"x" * (size - len(head) - len(tail)) + tail


def fields(count: int, kind: str) -> bytes:
    """A small body with this many fields."""
    if kind == SEVERAL:
        part = b'--bound\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n'
        return part * count + b"--bound--\r\n"
    return b"&".join([b"a=b"] * count)


# by what is sent: its limit, and the statuses up to there and beyond
LIMITS = {
    "draft": (API_BODY_MAX_BYTES, 201, 400),
    "fields": (FORM_BODY_MAX_BYTES, 400, 413),
    "parts": (FORM_BODY_MAX_BYTES, 400, 413),
}


def sized(app: Flask, account: Account, sent: str, size: int) -> tuple[str, dict[str, str], bytes]:
    """Path, headers and body of a request."""
    if sent == "draft":
        with app.app_context():
            audience = app.config["SETTINGS"].api_url
            token = issue_token(account.id, [Scope.FORMS_WRITE], audience, now=utc_now())
        return "/api/drafts", JSON | bearer(token), DRAFT.ljust(size)
    headers = FORM if sent == "fields" else {"Content-Type": SEVERAL}
    return "/login", headers, one_field(size, headers["Content-Type"])


@chunked_or_not
@pytest.mark.parametrize("sent", LIMITS)
@pytest.mark.parametrize("beyond", [-1, 0, 1, 10_000_000])
def test_a_body_is_taken_whole_up_to_its_limit_and_never_cut(
    served: Flask, account: Account, sent: str, beyond: int, *, chunked: bool
) -> None:
    most, taken, refused = LIMITS[sent]
    status = refused if beyond > 0 else taken

    answer = post(served, *sized(served, account, sent, most + beyond), chunked=chunked)

    with served.app_context():
        drafts = db.session.scalar(select(func.count()).select_from(Draft))
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert (b"That is too much at once." in answer) == (status == 413)
    assert (b"payload_too_large" in answer) == (status == 400 and sent == "draft")
    assert drafts == (status == 201)


@pytest.mark.parametrize("kind", [FORM["Content-Type"], SEVERAL], ids=["urlencoded", "multipart"])
def test_a_form_has_a_bounded_number_of_fields(served: Flask, kind: str) -> None:
    sent = [fields(FORM_FIELDS_MAX + more, kind) for more in (0, 1)]

    answers = [post(served, "/login", {"Content-Type": kind}, s, chunked=False) for s in sent]

    assert [answer[9:12] for answer in answers] == [b"400", b"413"]


def test_the_longest_spoken_answer_fits_into_a_form() -> None:
    assert len(quote("\U0001f3a4" * SPOKEN_ANSWER_MAX_CHARS)) + 10_000 < FORM_BODY_MAX_BYTES
