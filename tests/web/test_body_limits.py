"""Bodies of every size over the wire: taken whole, or refused with nothing stored."""

import json
import secrets
from collections.abc import Iterator
from urllib.parse import quote, urlencode

import pytest
from flask import Flask
from sqlalchemy import func, select

from api.bodies import API_BODY_MAX_BYTES
from tests.factories import make_form
from tests.pages.respondent_client import stored, texts
from tests.serving import exchange, new_app, serving
from tests.voice.factories import make_recording, make_voice_form
from webapp.base.config import Settings
from webapp.base.database import db, utc_now
from webapp.base.vocabulary import Scope
from webapp.oauth.tokens import issue_token
from webapp.pages.respondent.form_data import new_session_key
from webapp.records.accounts.models import Account
from webapp.records.drafts import Draft
from webapp.records.responses.models import ANSWER_MAX_CHARS, SPOKEN_ANSWER_MAX_CHARS
from webapp.web.form_body_limits import ANSWER_BODY_MAX_BYTES, FORM_BODY_MAX_BYTES, FORM_FIELDS_MAX

chunked_or_not = pytest.mark.parametrize("chunked", [False, True], ids=["with length", "chunked"])
DRAFT = b'{"title": "Rota"}'


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


@chunked_or_not
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


def answer_body(
    app: Flask, text: str, size: int = 0, *, session: str = "", recording: str = ""
) -> bytes:
    """The fields of an answer; `size` bytes when the text is stretched to it."""
    with app.app_context():
        session = session or new_session_key()
    keys = {"session": session, "answer_key": secrets.token_urlsafe(24), "recording": recording}
    return f"{urlencode(keys)}&answer={text}".encode().ljust(size, b"x")


FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@chunked_or_not
@pytest.mark.parametrize("spoken", [False, True])
def test_the_longest_answer_arrives_whole(
    served: Flask, account: Account, *, spoken: bool, chunked: bool
) -> None:
    with served.app_context():
        form, session = make_voice_form(account.id), new_session_key()
        recording = make_recording(form, session).id if spoken else ""
        db.session.commit()
    text = "\U0001f3a4" * (SPOKEN_ANSWER_MAX_CHARS if spoken else ANSWER_MAX_CHARS)
    body = answer_body(served, quote(text), session=session, recording=recording)

    answer = post(served, f"/r/{form.share_token}/q/1", FORM, body, chunked=chunked)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert texts(served) == [text]


@chunked_or_not
@pytest.mark.parametrize(
    ("size", "status"),
    [
        (ANSWER_BODY_MAX_BYTES - 1, 422),
        (ANSWER_BODY_MAX_BYTES, 422),
        (ANSWER_BODY_MAX_BYTES + 1, 413),
        (10 * ANSWER_BODY_MAX_BYTES, 413),
    ],
)
def test_an_answer_that_is_too_long_is_never_cut(
    served: Flask, account: Account, size: int, status: int, *, chunked: bool
) -> None:
    with served.app_context():
        form = make_form(account.id)

    path = f"/r/{form.share_token}/q/1"
    answer = post(served, path, FORM, answer_body(served, "x", size), chunked=chunked)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert stored(served) == (0, 0)


# what the buttons of a question's page, and of the pages that hand its words back, post to
WITH_WORDS = ("q/1", "q/1/skip", "q/1/transcript", "q/1/elsewhere", "check/open", "recordings/a")
OTHERS = ("check", "withdraw", "done/open", "continue/a", "q/1/f/1/2")


@pytest.mark.parametrize("path", [*WITH_WORDS, *OTHERS])
def test_what_a_question_sends_may_be_longer_than_other_forms(
    served: Flask, account: Account, path: str
) -> None:
    with served.app_context():
        form = make_voice_form(account.id)
    most = ANSWER_BODY_MAX_BYTES if path in WITH_WORDS else FORM_BODY_MAX_BYTES
    sent = [answer_body(served, "x", most + more) for more in (0, 1)]

    answers = [post(served, f"/r/{form.share_token}/{path}", FORM, s, chunked=False) for s in sent]

    assert [b" 413 " in answer[:20] for answer in answers] == [False, True]


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


@chunked_or_not
@pytest.mark.parametrize("kind", [FORM["Content-Type"], SEVERAL], ids=["urlencoded", "multipart"])
@pytest.mark.parametrize(
    ("size", "status"),
    [
        (FORM_BODY_MAX_BYTES - 1, 400),
        (FORM_BODY_MAX_BYTES + 1, 413),
        (30 * FORM_BODY_MAX_BYTES, 413),
    ],
)
def test_every_form_of_a_page_has_a_bound(
    served: Flask, size: int, status: int, kind: str, *, chunked: bool
) -> None:
    body = one_field(size, kind)

    answer = post(served, "/login", {"Content-Type": kind}, body, chunked=chunked)

    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    assert (b"That is too much at once." in answer) == (status == 413)


@pytest.mark.parametrize("kind", [FORM["Content-Type"], SEVERAL], ids=["urlencoded", "multipart"])
def test_a_form_has_a_bounded_number_of_fields(served: Flask, kind: str) -> None:
    sent = [fields(FORM_FIELDS_MAX + more, kind) for more in (0, 1)]

    answers = [post(served, "/login", {"Content-Type": kind}, s, chunked=False) for s in sent]

    assert [answer[9:12] for answer in answers] == [b"400", b"413"]


def test_a_respondent_with_too_many_fields_is_told_so(served: Flask, account: Account) -> None:
    with served.app_context():
        form = make_form(account.id)

    path = f"/r/{form.share_token}/q/1"
    answer = post(served, path, FORM, fields(FORM_FIELDS_MAX + 1, ""), chunked=False)

    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"That is too much at once." in answer
    assert f'href="/r/{form.share_token}"'.encode() in answer
    assert stored(served) == (0, 0)
