"""The official TypeScript client in both its modes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.mcp_clients.conftest import Place
from tests.mcp_clients.node_host import NodeHost, Refused, node_host

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
    forms = host.do("use", tool="list_forms", given={})

    assert about["era"] == ERAS[mode]
    assert about["server"]["name"] == "askback"
    assert "creator" in about["instructions"]
    assert about["capabilities"]["tools"] == {}
    assert names == sorted(names)
    assert forms["structuredContent"]["formCount"] == 0


def test_an_unknown_tool_is_an_error_of_the_protocol(host: NodeHost) -> None:
    with pytest.raises(Refused, match="no such tool") as raised:
        host.do("use", tool="order_pizza", given={})

    assert raised.value.code == -32602
