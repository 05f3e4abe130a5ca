"""Whatever is sent to these addresses, the answer is never a 500."""

from urllib.parse import urlencode

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from tests.databases import on_postgresql
from tests.oauth.flow import REDIRECT, Flow
from webapp.web.limiter import limiter

ODD = ["", "\x00", "\ud7ff", "é", '"', "\\", "\r\nX: y", "%00", "%", "\U0001f4a3", "a" * 3000, "[]"]
texts = st.one_of(st.sampled_from(ODD), st.text(max_size=40))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def any_of(names: str) -> st.SearchStrategy[dict[str, str]]:
    """Any of these parameters with any value."""
    return st.fixed_dictionaries({}, optional=dict.fromkeys(names.split(), texts))


ASKING = any_of(
    "response_type client_id redirect_uri scope state code_challenge code_challenge_method"
    " resource prompt nonsense"
)
TOKEN = any_of(
    "grant_type code redirect_uri code_verifier client_id client_secret refresh_token scope"
    " resource token token_type_hint"
)
METADATA = st.dictionaries(
    st.sampled_from(
        ["redirect_uris", "client_name", "grant_types", "token_endpoint_auth_method", "scope"]
    ),
    json_values,
)
repeatable = settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)

# PostgreSQL refuses more than SQLite does: NUL, lone surrogates, long index entries
pytestmark = [on_postgresql, pytest.mark.timeout(300)]


@repeatable
@given(changed=ASKING)
def test_hostile_consent_requests_cause_no_500(changed: dict[str, str], flow: Flow) -> None:
    limiter.reset()

    assert flow.browser.get(f"/oauth/authorize?{urlencode(changed)}").status_code < 500
    assert flow.ask(**changed).status_code < 500


@repeatable
@given(form=TOKEN)
@pytest.mark.parametrize("grant_type", ["authorization_code", "refresh_token", None])
@pytest.mark.parametrize("path", ["/oauth/token", "/oauth/revoke"])
def test_hostile_token_requests_cause_no_500(
    path: str, grant_type: str | None, form: dict[str, str], flow: Flow
) -> None:
    limiter.reset()
    known = {
        "client_id": flow.client["client_id"],
        "redirect_uri": REDIRECT,
        "token": "askat_x",
        "code": "askac_" + "x" * 43,
    } | ({"grant_type": grant_type} if grant_type else {})

    assert flow.machine.post(path, data=known | form).status_code < 500


@repeatable
@given(metadata=st.one_of(METADATA, json_values))
def test_hostile_registrations_cause_no_500(metadata: object, flow: Flow) -> None:
    limiter.reset()

    assert flow.machine.post("/oauth/register", json=metadata).status_code < 500
