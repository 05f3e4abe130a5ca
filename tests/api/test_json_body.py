"""The gate for request bodies, tried on create, update and publish."""

from io import BytesIO

import pytest

from tests.api.conftest import Agent, refusal
from webapp.base.limits import API_BODY_MAX_BYTES

JSON = "application/json"


def send(agent: Agent, raw: bytes, content_type: str | None = JSON) -> tuple[int, str]:
    response = agent.post("/drafts", data=raw, content_type=content_type)
    return refusal(response)


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{}{}",
        b"{'title': 1}",
        b'{"title": "x",}',
        b'{"title": NaN}',
        b'{"title": Infinity}',
        b'{"title": -Infinity}',
        b'{"maxTotalQuestions": 1e999}',
        b'{"maxTotalQuestions": -1e999}',
        b'{"maxTotalQuestions": ' + b"9" * 5000 + b"}",
        b'{"title": "a", "title": "b"}',
        b'{"questions": [{"text": "a", "text": "b"}]}',
        b'{"title": "\xff"}',
        b'{"title": "\xed\xa0\x80"}',
        b'{"title": "a\nb"}',
        '{"title": "x"}'.encode("utf-16"),
        '{"title": "x"}'.encode("utf-32"),
        b"[" * 100_000,
        b'{"questions":' * 20_000,
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_invalid_json_is_refused(raw: bytes, agent: Agent) -> None:
    assert send(agent, raw) == (400, "invalid_json")


@pytest.mark.parametrize("raw", [b"null", b"7", b'"x"', b"[]", b"[" * 900 + b"]" * 900])
def test_a_body_other_than_an_object_is_refused(raw: bytes, agent: Agent) -> None:
    assert send(agent, raw) == (400, "validation_failed")


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b'{"goal": "\\u0000"}', "invalid_text"),
        (b'{"goal": "\\ud800"}', "invalid_text"),
        (b'{"questions": ["\\udfff"]}', "invalid_text"),
        (b'{"questions": [{"text": "x", "id": "\\ud800"}]}', "invalid_text"),
        (b'{"followUpMode": "\\ud800"}', "invalid_text"),
        (b'{"followUpMode": "\\u0000"}', "validation_failed"),
        (b'{"maxTotalQuestions": 1e300}', "validation_failed"),
        (b'{"maxTotalQuestions": 99999999999999999999999}', "validation_failed"),
        (b'{"maxTotalQuestions": 0.5}', "validation_failed"),
        (b'{"\\u0000": 1}', "unknown_field"),
        (b'{"' + b"x" * 100_000 + b'": 1}', "unknown_field"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_a_value_that_cannot_be_stored_is_refused(raw: bytes, code: str, agent: Agent) -> None:
    assert send(agent, raw) == (400, code)


def test_half_a_surrogate_pair_in_a_name_is_refused(agent: Agent) -> None:
    status, code = send(agent, b'{"\\ud800": 1}')

    assert (status, code in {"unknown_field", "invalid_text"}) == (400, True)


def test_a_message_never_repeats_a_long_name(agent: Agent) -> None:
    response = agent.post("/drafts", json={"x" * 100_000: 1})

    assert len(response.text) < 2000


def test_a_whole_surrogate_pair_is_text(agent: Agent) -> None:
    response = agent.post("/drafts", data=b'{"goal": "\\ud83d\\ude00"}', content_type=JSON)

    assert response.json["goal"] == "\N{GRINNING FACE}"


def test_a_byte_order_mark_is_skipped(agent: Agent) -> None:
    response = agent.post("/drafts", data=b'\xef\xbb\xbf{"title": "x"}', content_type=JSON)

    assert (response.status_code, response.json["title"]) == (201, "x")


@pytest.mark.parametrize(
    "content_type",
    [JSON, "application/json; charset=utf-8", 'Application/JSON;charset="UTF-8"'],
)
def test_json_in_utf_8_is_read(content_type: str, agent: Agent) -> None:
    response = agent.post("/drafts", data=b"{}", content_type=content_type)

    assert response.status_code == 201


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json-patch+json",
        "application/json; charset=utf-16",
        "application/json; charset=latin-1",
        "\xff",
    ],
)
def test_another_content_type_is_refused(content_type: str | None, agent: Agent) -> None:
    assert send(agent, b"{}", content_type) == (400, "invalid_json")


def test_a_compressed_body_is_refused_as_such(agent: Agent) -> None:
    headers = {"Content-Encoding": "gzip"}

    response = agent.post("/drafts", data=b"\x1f\x8b", content_type=JSON, headers=headers)

    assert refusal(response) == (400, "invalid_json")
    assert "compressed" in response.json["message"]


@pytest.mark.parametrize(("size", "status"), [(-1, 201), (0, 201), (1, 400)])
def test_a_body_has_a_largest_size(size: int, status: int, agent: Agent) -> None:
    raw = b"{}".ljust(API_BODY_MAX_BYTES + size)

    assert agent.post("/drafts", data=raw, content_type=JSON).status_code == status


@pytest.mark.parametrize("path", ["/drafts", "/drafts/x/publish"])
def test_a_body_of_twenty_megabytes_is_refused_with_its_size_limit(path: str, agent: Agent) -> None:
    response = agent.post(path, data=b" " * 20_000_000, content_type=JSON)

    assert refusal(response) == (400, "payload_too_large")
    assert response.json["message"] == "body: is larger than 256 KiB."
    assert "all questions of a draft together" in response.json["resolution"]


def test_a_body_shorter_than_announced_is_refused(agent: Agent) -> None:
    response = agent.post(
        "/drafts",
        input_stream=BytesIO(b"{"),
        content_type=JSON,
        headers={"Content-Length": "100"},
    )

    assert refusal(response) == (400, "invalid_json")


def test_body_checks_apply_to_updates_too(agent: Agent, draft_id: str) -> None:
    response = agent.patch(f"/drafts/{draft_id}", data=b'{"a":1,"a":2}', content_type=JSON)

    assert refusal(response) == (400, "invalid_json")
