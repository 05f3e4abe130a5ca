"""Error responses of the server itself, before the application was called or after it failed."""

import orjson

from webapp.domain.shared.error_codes import ErrorCode

# whether anything was stored before the error is unknown, so the text does not say
BROKEN = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Something broke on our side. · Askback</title>
<h1>Something broke on our side.</h1>
<p>It has been written down for whoever runs this server. What was saved before is safe.
Go back and look whether what you sent is there before you send it again.</p>
</html>
""".encode()


def refusal(code: int, reason: str, for_api: bool) -> tuple[str, str, bytes]:  # noqa: FBT001
    """Status line, content type and body; to the API with the four fields of the contract."""
    if for_api:
        status, body = _api_refusal(code)
        return status, "application/json", body
    if code == 500:
        return "500 Internal Server Error", "text/html; charset=utf-8", BROKEN
    body = f"{reason}. Nothing was changed.\n".encode()
    return f"{code} {reason}", "text/plain; charset=utf-8", body


def _api_refusal(code: int) -> tuple[str, bytes]:
    """Status line and body with the four fields; too large and unreadable are both a 400 there."""
    if code >= 500 and code != 501:
        refused = ErrorCode.INTERNAL_ERROR
        message = "The service could not complete the request."
        resolution = "Try again; if it happens again, tell the operator of this service."
    elif code == 413:
        refused = ErrorCode.PAYLOAD_TOO_LARGE
        message = "body: is larger than this server reads."
        resolution = "Send less: all questions of a draft together must fit into 256 KiB."
    elif code == 431:
        refused = ErrorCode.PAYLOAD_TOO_LARGE
        message = "The headers are larger than this server reads."
        resolution = "Send fewer or shorter headers."
    else:
        refused = ErrorCode.VALIDATION_FAILED
        message = "The request is not HTTP/1.1 that this server understands."
        resolution = "Check the request line, the headers and the transfer encoding."
    fields = {"error": message, "code": refused, "message": message, "resolution": resolution}
    return f"{refused.status.value} {refused.status.phrase}", orjson.dumps(fields)
