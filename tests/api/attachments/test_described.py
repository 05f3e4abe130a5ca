"""What the OpenAPI document says of the bytes of recordings."""

from typing import Any

import pytest
from flask.testing import FlaskClient

PATHS = (
    "/forms/{formId}/attachments/{attachmentId}",
    "/agent/asks/{askId}/attachments/{attachmentId}",
)


@pytest.fixture(params=PATHS)
def operation(request: pytest.FixtureRequest, client: FlaskClient) -> Any:
    return client.get("/api/openapi").json["paths"][request.param]["get"]


def header_names(operation: Any, status: str) -> set[str]:
    return set(operation["responses"][status]["headers"])


def test_all_of_them_or_a_part_is_answered(operation: Any) -> None:
    responses = operation["responses"]

    assert set(responses) == {"200", "206", "401", "404", "416", "500"}
    assert all("audio/*" in responses[status]["content"] for status in ("200", "206"))
    described = {"Accept-Ranges", "Content-Disposition"}
    assert described <= header_names(operation, "200")
    assert header_names(operation, "206") == header_names(operation, "200") | {"Content-Range"}


def test_a_range_beyond_the_end_is_told_the_size(operation: Any) -> None:
    assert "Content-Range" in header_names(operation, "416")
    assert "Content-Range" not in header_names(operation, "404")


def test_a_range_may_be_asked_for(operation: Any) -> None:
    names = [each["$ref"].rpartition("/")[2] for each in operation["parameters"]]

    assert names[1:] == ["attachmentId", "Range"]
