"""The official TypeScript client in both its modes."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_clients.conftest import Place
from tests.mcp_clients.node_host import NodeHost, Refused, node_host
from tests.mcp_clients.people import Creator
from tests.services import wait_until

pytestmark = [pytest.mark.prove, pytest.mark.timeout(300)]

ERAS = {"auto": "modern", "legacy": "legacy"}


@pytest.fixture
def host(
    mode: str, place: Place, token: str, node: Path, node_packages: Path
) -> Iterator[NodeHost]:
    arguments = ("mcp_client.mjs", place.mcp_url, token, mode)
    with node_host(node, node_packages, *arguments) as host:
        yield host


def test_it_connects_and_reads(host: NodeHost, mode: str) -> None:
    about = host.do("about")
    names = [tool["name"] for tool in host.do("tools")]
    forms = host.do("use", tool="list_forms", given={})["structuredContent"]

    assert about["era"] == ERAS[mode]
    assert about["server"]["name"] == "askback"
    assert "creator" in about["instructions"]
    assert about["capabilities"]["tools"] == {}
    assert names == sorted(names)
    assert forms["formCount"] == len(forms["forms"])


def test_it_opens_the_review_page_and_publishes(
    host: NodeHost, mode: str, creator: Creator
) -> None:
    """The handshake declares what the client can do once only, and no session keeps it."""
    given = {"title": "Rota", "questions": ["Who changed it?"]}
    draft = host.do("use", tool="create_form_draft", given=given)["structuredContent"]
    host.do("begin", tool="publish_form_draft", given={"draftId": draft["draftId"]})
    if mode == "legacy":
        refusal = json.loads(host.do("end")["content"][0]["text"])
        assert refusal["code"] == "draft_not_confirmed"
        assert host.do("shown") == []
        return

    wait_until(lambda: host.do("shown"), "being asked")
    (asked,) = host.do("shown")
    assert (asked["mode"], asked["url"]) == ("url", draft["reviewUrl"])
    creator.confirm(asked["url"])
    host.do("accept")

    form = host.do("end")["structuredContent"]
    assert (form["status"], form["idempotent"]) == ("published", False)


def test_an_unknown_tool_is_an_error_of_the_protocol(host: NodeHost) -> None:
    with pytest.raises(Refused, match="no such tool") as raised:
        host.do("use", tool="order_pizza", given={})

    assert raised.value.code == -32602
