"""The largest bodies, headers, addresses and values on the routes beside the contract's.

Each is refused in the words of the contract, or ignored, and costs no time.
"""

import time
from dataclasses import replace
from typing import Any

import pytest

from api.openapi.operations import EXTENSIONS, Operation
from tests.contract.test_answers import Scene, scene  # noqa: F401 (a fixture)

MIB = 1024 * 1024
HEADER = 60_000  # the server takes 64 KiB
JSON = {"content_type": "application/json"}
REQUESTS: dict[str, dict[str, Any]] = {
    "a body of 1 MiB": {"data": b'{"url":"' + b"x" * MIB + b'"}', **JSON},
    "arrays in arrays": {"data": b"[" * 200_000, **JSON},
    "a number of so many digits": {"data": b'{"ttlSeconds":' + b"9" * 200_000 + b"}", **JSON},
    "many fields": {"json": {f"field{number}": 1 for number in range(10_000)}},
    "a long token": {"headers": {"Authorization": "Bearer askag_" + "x" * HEADER}},
    "a long scheme": {"headers": {"Authorization": "x" * HEADER}},
    "a long id of an event": {"headers": {"Last-Event-ID": "9" * HEADER}},
    "a fraction without end": {"query_string": f"since=2026-01-01T00:00:00.{'9' * HEADER}Z"},
    "a long place": {"query_string": "since=" + "9" * HEADER},
    "a long wait": {"query_string": "wait=" + "9" * HEADER},
    "many parameters": {"query_string": "&".join(f"since{each}=1" for each in range(5_000))},
    "a long id": {"object_id": "x" * HEADER},
}
LONG = "x" * 250_000  # the body holds 256 KiB
VALUES = [
    ("createSubscription", "url", f"https://hooks.example.com/{LONG}"),
    ("createSubscription", "url", "https://" + "a." * 100_000 + "example.com/"),
    ("createSubscription", "secret", f"whsec_{LONG}"),
    ("createAgentToken", "label", LONG),
]
BY_ID = {operation.id: operation for operation in EXTENSIONS}


def call(scene: Scene, operation: Operation, **request: Any) -> Any:  # noqa: F811
    began = time.thread_time()  # of the processor, whatever else the machine does
    sent = operation if "data" not in request else replace(operation, sent=None)
    answer = scene.call(sent, **request)

    assert time.thread_time() - began < 1
    assert answer.status_code == operation.status or answer.status_code in operation.codes
    assert answer.status_code < 500
    return answer


@pytest.mark.parametrize("operation", EXTENSIONS, ids=lambda operation: operation.id)
def test_the_worst_requests(scene: Scene, operation: Operation) -> None:  # noqa: F811
    for what, request in REQUESTS.items():
        answer = call(scene, operation, **request)

        if answer.status_code >= 400:
            assert len(answer.data) < 2_000, what
            assert answer.json.keys() == {"error", "code", "message", "resolution"}, what


def test_the_worst_values(scene: Scene) -> None:  # noqa: F811
    for operation_id, field, value in VALUES:
        operation = BY_ID[operation_id]
        answer = call(scene, operation, json={**(operation.sent or {}), field: value})

        assert answer.status_code == 400
        assert answer.json["message"].startswith(f"{field}: ")
        assert LONG[:100] not in answer.text
