"""Kinds of requests, what browsers accept, and ids in addresses."""

import re

import pytest
from flask import Blueprint, Flask, Response
from flask.testing import FlaskClient

from tests.databases import on_postgresql
from tests.pages.creator_client import creator
from tests.serving import new_app
from webapp.base.config import Settings
from webapp.records.accounts.models import Account
from webapp.web.request_kind import (
    PROGRAMS,
    READ_CHARS,
    RequestKind,
    UnknownKind,
    hooks_without,
    register,
    request_kind,
    require_kinds,
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (path, kind)
        for kind, paths in {
            RequestKind.API: ("/api/drafts", "/api", "/api/nothing/here", "/api/agents"),
            RequestKind.AGENT: ("/api/agent/asks/frm_1/answers", "/api/agent"),
            RequestKind.RESPONDENT_PAGE: ("/r/abc/q/1", "/r/abc/nothing", "/about", "/privacy"),
            RequestKind.CREATOR_PAGE: ("/drafts", "/account"),
            RequestKind.PUBLIC_PAGE: ("/docs", "/", "/apis", "/nothing"),
            RequestKind.OAUTH: ("/oauth/token",),
            RequestKind.PROBE: ("/healthz",),
            RequestKind.STATIC: ("/static/v/1/css/app.css", "/static/v/1/x"),
        }.items()
        for path in paths
    ],
)
def test_a_request_is_of_the_kind_of_its_route_or_address(
    app: Flask, path: str, kind: RequestKind
) -> None:
    with app.test_request_context(path):
        assert request_kind() is kind


def test_every_route_has_a_kind(app: Flask) -> None:
    require_kinds(app)

    without = {rule.endpoint for rule in app.url_map.iter_rules() if "." not in rule.endpoint}
    assert without == {"asset"}


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ("/there", None),
        ("/r/<share_token>/more", RequestKind.CREATOR_PAGE),
        ("/more", RequestKind.API),
        ("/api/more", RequestKind.PUBLIC_PAGE),
        ("/api/agent/more", RequestKind.API),
    ],
)
def test_a_route_without_a_kind_or_with_another_than_its_address_fails_at_the_start(
    settings: Settings, prefix: str, kind: RequestKind | None
) -> None:
    app = new_app(settings)
    blueprint = Blueprint("there", __name__, url_prefix=prefix)
    blueprint.add_url_rule("/there", "there", lambda share_token="": share_token)
    if kind:
        register(app, blueprint, kind)
    else:
        app.register_blueprint(blueprint)

    with pytest.raises(UnknownKind, match="there"):
        require_kinds(app)


def test_programs_pass_no_hooks_of_browsers(settings: Settings) -> None:
    app = new_app(settings)
    with hooks_without(app, PROGRAMS):
        app.before_request(lambda: Response(status=418))
        app.before_request(lambda: Response(status=500))

    client = app.test_client()

    assert client.get("/nothing").status_code == 418
    answers = [client.get(path) for path in ("/api/nothing", "/api/agent/nothing")]
    assert {answer.status_code for answer in answers} == {404}
    assert all(answer.headers["X-Request-Id"] for answer in answers)


MANY = "x;q=0.1,"


def before(wanted: str, chars: int) -> str:
    """A header of other entries in which `wanted` ends at `chars`."""
    others = (chars - len(wanted)) // len(MANY)
    return MANY * others + " " * ((chars - len(wanted)) % len(MANY)) + wanted


@pytest.mark.parametrize(
    ("chars", "language"), [(10, "de"), (READ_CHARS, "de"), (READ_CHARS + 8, "en"), (60_000, "en")]
)
def test_languages_are_read_up_to_a_bound(client: FlaskClient, chars: int, language: str) -> None:
    page = client.get("/privacy", headers={"Accept-Language": before("de", chars)})

    assert f'<html lang="{language}"' in page.text


@pytest.mark.parametrize(
    ("header", "packed"),
    [
        *((header, True) for header in ("gzip", "*", before("gzip", READ_CHARS))),
        *((header, False) for header in ("gzip;q=0", "", before("gzip", 60_000))),
    ],
)
def test_encodings_are_read_up_to_a_bound(
    client: FlaskClient, header: str, *, packed: bool
) -> None:
    styles = re.findall(r'href="([^"]+app\.css)"', client.get("/login").text)

    sent = client.get(styles[0], headers={"Accept-Encoding": header})

    assert (sent.headers.get("Content-Encoding") == "gzip") is packed


@on_postgresql
@pytest.mark.parametrize(
    "path",
    [
        *("/r/%00", "/r/%00/q/1", "/r/%00/done", "/drafts/%00", "/forms/%00", "/forms/%00/people"),
        *("POST /connections/%00/disconnect", "POST /connections/%00/trust"),
    ],
)
def test_what_has_a_null_character_in_its_id_is_not_found(
    app: Flask, account: Account, path: str
) -> None:
    method, _, path = path.rpartition(" ")
    ann = creator(app, account)

    assert (ann.post(path) if method else ann.page(path)).status_code == 404
