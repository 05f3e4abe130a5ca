"""Our own checks for schemathesis: every refusal is one of those that the document lists.

At the end of the run `SEEN` has how often each operation was answered with which status.
"""

import atexit
import json
from collections import Counter
from pathlib import Path
from typing import Any

import schemathesis

from api.openapi.operations import EXTENSIONS, OPERATIONS

LISTED = {
    (operation.method.value, operation.path): {
        int(status): codes for status, codes in operation.codes.items()
    }
    for operation in (*OPERATIONS, *EXTENSIONS)
}
FIELDS = {"error", "code", "message", "resolution"}
SEEN = Path("seen.json")

seen: dict[str, Counter[int]] = {}


@schemathesis.hook
def before_load_schema(_context: schemathesis.HookContext, raw_schema: dict[str, Any]) -> None:
    """Take the examples out of the answers: ids would be drawn from them instead of at random."""
    for methods in raw_schema["paths"].values():
        for operation in methods.values():
            for response in operation["responses"].values():
                for content in response.get("content", {}).values():
                    content.pop("example", None)
                    content.pop("examples", None)


@schemathesis.check
def refused_as_listed(
    _context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """A failure has the four fields and a code that is listed for its status."""
    if response.status_code < 400:
        return
    body = response.json()
    assert body.keys() == FIELDS, f"the fields are {sorted(body)}"
    assert body["error"] == body["message"]
    if response.status_code == 405:
        assert body["code"] == "method_not_allowed"
        return
    listed = LISTED[case.method.upper(), case.operation.path]
    assert body["code"] in listed.get(response.status_code, ()), f"{body['code']} is not listed"


@schemathesis.check
def is_counted(
    _context: schemathesis.CheckContext, response: schemathesis.Response, case: schemathesis.Case
) -> None:
    """Never fails."""
    operation = f"{case.method.upper()} {case.operation.path}"
    seen.setdefault(operation, Counter())[response.status_code] += 1


@atexit.register
def write_down() -> None:
    """Where the program runs, which is a folder of the test."""
    if seen:
        SEEN.write_text(json.dumps(seen))
