"""Our own check for schemathesis: every refusal is one of those that the document lists."""

import schemathesis

from api.operations import OPERATIONS

LISTED = {
    (operation.method.value, operation.path): {
        int(status): codes for status, codes in operation.codes.items()
    }
    for operation in OPERATIONS
}
FIELDS = {"error", "code", "message", "resolution"}


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
