"""Valid and invalid authorization requests."""

from urllib.parse import parse_qs, urlsplit

import pytest
from flask import Flask
from werkzeug.test import TestResponse

from tests.oauth.flow import ORIGIN, REDIRECT, Flow, count, leave, location, way_back
from webapp.base.database import utc_now
from webapp.oauth.client_metadata import redirect_problem
from webapp.oauth.models import OAuthCode, OAuthGrant
from webapp.oauth.registration import create_client

LOOPBACK = "http://127.0.0.1:3000/callback"
FOREIGN = "https://other.example/api"


def of_the_operator(app: Flask) -> dict[str, str]:
    with app.app_context():
        client_id, _ = create_client("Ours", [REDIRECT], public=True, now=utc_now())
    return {"client_id": client_id}


def stays(page: TestResponse, status: int = 400) -> str:
    """The page of a refusal that leads nowhere."""
    assert (page.status_code, "Location" in page.headers) == (status, False)
    return page.text


REFUSALS = [
    ({"response_type": "token"}, "unsupported_response_type"),
    ({"code_challenge": None}, "invalid_request"),
    ({"code_challenge_method": None}, "invalid_request"),
    ({"code_challenge_method": "plain"}, "invalid_request"),
    ({"code_challenge": ["x" * 43, "y" * 43]}, "invalid_request"),
    ({"resource": FOREIGN}, "invalid_target"),
    ({"prompt": "none"}, "consent_required"),
]


@pytest.mark.parametrize(("changed", "error"), REFUSALS)
def test_an_error_redirects_only_where_the_client_is_trusted(
    changed: dict[str, object], error: str, app: Flask, flow: Flow, confidential: Flow
) -> None:
    said = {"error": error, "state": "st4te", "iss": ORIGIN}

    for unknown in (flow, confidential):
        page = unknown.ask(**changed)
        assert way_back(page).items() >= said.items()
    assert "Go back to app.example" in page.text
    flow.decide()
    assert location(flow.ask(**changed)).items() >= said.items()
    flow.client = of_the_operator(app)
    assert location(flow.ask(**changed))["error"] == error


@pytest.mark.parametrize("answer", ["no", "", "maybe", "YES"])
def test_a_denial_does_not_count_as_consent(answer: str, app: Flask, flow: Flow) -> None:
    denied = location(flow.decide(allow=answer))

    assert denied.items() >= {"error": "access_denied", "state": "st4te", "iss": ORIGIN}.items()
    assert [count(app, table) for table in (OAuthGrant, OAuthCode)] == [0, 0]
    assert way_back(flow.ask(prompt="none"))["error"] == "consent_required"


def test_a_signed_out_visitor_is_sent_on_to_clients_of_the_operator_only(
    app: Flask, flow: Flow
) -> None:
    flow.decide()
    leave(flow.browser)

    assert way_back(flow.ask(prompt="none"))["error"] == "login_required"
    assert way_back(flow.ask(prompt="none", resource=FOREIGN))["error"] == "invalid_target"
    flow.client = of_the_operator(app)
    answer = location(flow.ask(prompt="none"))
    assert (answer["error"], answer["iss"]) == ("login_required", ORIGIN)


@pytest.mark.parametrize("host", ["localhost:8000", "[::1]:8000"])
def test_the_issuer_is_the_one_whose_document_was_read(host: str, flow: Flow) -> None:
    sent_on = flow.browser.get(flow.address(), headers={"Host": host}).location
    answer = location(flow.decide(sent_on.removeprefix(ORIGIN)))

    assert answer.keys() == {"code", "state", "iss"}
    assert answer["iss"] == f"http://{host}"


@pytest.mark.parametrize("path", ["/mcp/app", "/mcp/app/", "/api"])
def test_each_authorization_endpoint_names_its_own_issuer(path: str, flow: Flow) -> None:
    address = flow.address().replace("/oauth/authorize", f"/oauth/authorize{path}")
    answer = location(flow.decide(address))

    assert answer["iss"] == f"{ORIGIN}{path}"
    assert flow.redeem(answer["code"]).status_code == 200
    for other in ("/mcp", "/other", "/mcp/app/more"):
        asked = address.replace(f"/oauth/authorize{path}", f"/oauth/authorize{other}")
        assert flow.browser.get(asked).status_code == 404


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "localhost:666", "[", ""])
def test_an_address_names_no_other_issuer(host: str, flow: Flow) -> None:
    assert location(flow.decide(flow.address(asked_host=host)))["iss"] == ORIGIN


def test_a_state_cannot_add_parameters(flow: Flow) -> None:
    state = 'a&code=stolen&iss=https://evil.example#x"\\'

    answer = location(flow.decide(flow.address(state=state)))

    assert (answer["state"], answer["iss"]) == (state, ORIGIN)


# by the address that is registered, those that differ from it too much
OTHERS = {
    REDIRECT: """
https://app.example/callback/ https://app.example/Callback https://app.example/callback?next=1
http://app.example/callback https://me@app.example/callback https://app.example/callback#part
https://app.example.evil.example/callback https://app.example\\.evil.example/callback
javascript:alert(1) https://app.example/x/../callback //app.example/callback
https://app.example:443/callback https://app.example:99999/callback https://APP.example/callback
""",
    LOOPBACK: """
http://localhost:3000/callback http://[::1]:3000/callback http://127.0.0.2:3000/callback
http://127.0.0.1:3000/callback/ http://127.0.0.1:3000/callback?a=b http://127.0.0.1:99999/callback
http://127.0.0.1:x/callback https://127.0.0.1:3000/callback http://me@127.0.0.1:3000/callback
http://127.0.0.1:3000@evil.example/callback http://127.0.0.1:3000/callback#part
http://127.0.0.1:/callback
""",
}


@pytest.mark.parametrize(
    ("registered", "asked"),
    [
        *((registered, uri) for registered, uris in OTHERS.items() for uri in uris.split()),
        (REDIRECT, " https://app.example/callback"),
    ],
)
def test_another_redirect_address_is_never_followed(
    registered: str, asked: str, flow: Flow
) -> None:
    flow = flow.other(redirect_uris=[registered])

    assert "cannot be connected" in stays(flow.ask(redirect_uri=asked))


@pytest.mark.parametrize("port", ["", ":80", ":1", ":49152"])
def test_a_loopback_redirect_may_use_any_port(port: str, flow: Flow) -> None:
    redirect_uri = f"http://127.0.0.1{port}/callback"
    flow = flow.other(redirect_uris=[LOOPBACK])

    answer = flow.decide(flow.address(redirect_uri=redirect_uri))

    assert answer.location.startswith(redirect_uri + "?")


# the host of the eighth one holds the name of a browser
TAKEN = """
https://app.example/callback http://127.0.0.1/callback http://[::1]:4000/callback
http://localhost:4000/callback?x=* cursor://anysphere.cursor-mcp/oauth/callback
com.example.app:/callback editor://oauth/callback operator://callback myapp:callback
x-github-client://oauth chat+beta:/cb
""".split()  # noqa: SIM905
NOT_TAKEN = [
    *"""
http://app.example/callback javascript:alert(1) javascript://app.example/%0aalert(1)
data:text/html,x file:///etc/passwd blob:https://app.example/x JavaScript:alert(1) vbscript:x
filesystem:https://app.example/x about:blank view-source:https://app.example/
jar:https://app.example/x!/y c:/windows/system32/calc.exe ws://app.example/ wss://app.example/
ftp://app.example/ mailto:ann@app.example tel:123 sms:123 urn:ietf:wg:oauth:2.0:oob
web+app://callback intent://scan/#Intent;scheme=zxing;end intent:x content://com.example/x
chrome://settings chrome-extension://abc/cb moz-extension://abc/cb
microsoft-edge:https://evil.example/ googlechromes://evil.example/ ddgQuickLink://evil.example/
touch-https://evil.example/ steam://openurl/https://evil.example/
firefox://open-url?url=https://evil.example/ ms-msdt:/id ms-settings: search-ms:query=x
shell:startup x-apple.systempreferences:x itms-services://x ://callback 1app://callback
https:///callback https://me@app.example/ https://app.example/#part https://app.example/\\x
https://app.example/"x https://äpp.example/ https://app.example:99999/ https://[::1/ /callback
""".split(),  # noqa: SIM905
    *("https://app.example/a b", "", "https://app.example/" + "x" * 2000, None, 7),
]


@pytest.mark.parametrize("uri", [*TAKEN, *NOT_TAKEN])
def test_valid_redirect_uris_alone_can_be_registered(uri: object) -> None:
    assert (redirect_problem(uri) is None) == (uri in TAKEN)


@pytest.mark.parametrize(
    "uri",
    ["https://app.example/cb?a=[]&b=%zz&c", "http://[::1]:3000/cb", "com.example.app:/callback"],
)
def test_response_parameters_are_added_to_any_registered_uri(uri: str, flow: Flow) -> None:
    flow = flow.other(redirect_uris=[uri])

    response = flow.decide(flow.address(redirect_uri=uri))

    assert response.status_code == 303
    assert response.location.startswith(uri.partition("?")[0] + "?")
    answer = parse_qs(urlsplit(response.location).query, keep_blank_values=True)
    known = parse_qs(urlsplit(uri).query, keep_blank_values=True)
    assert known | {"state": ["st4te"], "iss": [ORIGIN]} == {
        name: values for name, values in answer.items() if name != "code"
    }


@pytest.mark.parametrize(
    "changed",
    [
        *(
            {name: value}
            for name in ("response_type", "client_id", "redirect_uri", "code_challenge_method")
            for value in ("café", 'a"b', "a\\b", "\x00", "a\nb", "\U0001f4a3")
        ),
        *(
            {"redirect_uri": "https://evil.example/"} | changed
            for changed in (
                *({"client_id": each} for each in ("client_unknown", None, "x" * 5000)),
                {"response_type": None},
            )
        ),
    ],
)
def test_unusual_characters_and_unknown_clients_get_a_page(
    changed: dict[str, object], flow: Flow
) -> None:
    stays(flow.ask(**changed))


def test_parameters_of_other_standards_are_ignored(app: Flask, flow: Flow) -> None:
    others = {"login_hint": "renée@example.com", "ui_locales": ["de", "en"], "nonce": "a\\b\n"}
    assert flow.redeem(flow.code(**others), **others).status_code == 200
    leave(flow.browser)
    assert flow.ask(**others).location.startswith("/login?next=")
    flow.client = of_the_operator(app)
    assert location(flow.ask(**others, prompt="none"))["error"] == "login_required"


@pytest.mark.parametrize(
    "name", ["response_type", "client_id", "redirect_uri", "scope", "state", "code_challenge"]
)
def test_a_repeated_parameter_is_refused(name: str, flow: Flow) -> None:
    stays(flow.ask(**{name: [flow.parameters()[name]] * 2}))


def test_only_one_of_several_redirects_has_to_be_named(flow: Flow) -> None:
    answer = flow.decide(flow.address(redirect_uri=None))

    assert answer.location.startswith(REDIRECT + "?")
    several = flow.other(redirect_uris=[REDIRECT, "https://app.example/second"])
    stays(several.ask(redirect_uri=None))
