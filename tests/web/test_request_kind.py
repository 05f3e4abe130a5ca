"""Every route is of one kind, which its address tells where that is asked before routing."""

import pytest
from flask import Blueprint, Flask, Response

from tests.serving import new_app
from webapp.base.config import Settings
from webapp.web.request_kind import (
    PROGRAMS,
    RequestKind,
    UnknownKind,
    hooks_without,
    of_address,
    register,
    request_kind,
    require_kinds,
)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/api/drafts", RequestKind.API),
        ("/api", RequestKind.API),
        ("/api/nothing/here", RequestKind.API),
        ("/api/agent/asks/frm_1/answers", RequestKind.AGENT),
        ("/api/agent", RequestKind.AGENT),
        ("/api/agents", RequestKind.API),
        ("/apis", RequestKind.PUBLIC_PAGE),
        ("/r/abc/q/1", RequestKind.RESPONDENT_PAGE),
        ("/r/abc/nothing", RequestKind.RESPONDENT_PAGE),
        ("/about", RequestKind.RESPONDENT_PAGE),
        ("/privacy", RequestKind.RESPONDENT_PAGE),
        ("/drafts", RequestKind.CREATOR_PAGE),
        ("/account", RequestKind.CREATOR_PAGE),
        ("/docs", RequestKind.PUBLIC_PAGE),
        ("/", RequestKind.PUBLIC_PAGE),
        ("/oauth/token", RequestKind.OAUTH),
        ("/healthz", RequestKind.PROBE),
        ("/static/v/1/css/app.css", RequestKind.STATIC),
        ("/nothing", RequestKind.PUBLIC_PAGE),
    ],
)
def test_a_request_is_of_the_kind_of_its_route_or_address(
    app: Flask, path: str, kind: RequestKind
) -> None:
    with app.test_request_context(path):
        assert request_kind() is kind


def test_every_route_has_a_kind(app: Flask) -> None:
    require_kinds(app)

    assert {rule.endpoint for rule in app.url_map.iter_rules() if "." not in rule.endpoint} == {
        "asset"
    }
    assert of_address("/static/v/1/x") is RequestKind.STATIC


def test_a_blueprint_without_a_kind_fails_at_the_start(settings: Settings) -> None:
    app = new_app(settings)
    app.register_blueprint(Blueprint("forgotten", __name__))

    with pytest.raises(UnknownKind, match="forgotten"):
        require_kinds(app)


@pytest.mark.parametrize(
    ("prefix", "kind"),
    [
        ("/r/<share_token>/more", RequestKind.CREATOR_PAGE),
        ("/more", RequestKind.API),
        ("/api/more", RequestKind.PUBLIC_PAGE),
        ("/api/agent/more", RequestKind.API),
    ],
)
def test_a_route_whose_address_says_another_kind_fails_at_the_start(
    settings: Settings, prefix: str, kind: RequestKind
) -> None:
    app = new_app(settings)
    blueprint = Blueprint("misplaced", __name__, url_prefix=prefix)
    blueprint.add_url_rule("/there", "there", lambda share_token="": share_token)
    register(app, blueprint, kind)

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
