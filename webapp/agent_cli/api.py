"""Calls of the REST API with the stored connection, repeated until the server answers."""

from urllib.parse import quote, urlencode

from webapp.agent_cli.connections import access_token
from webapp.agent_cli.deadline import Deadline
from webapp.agent_cli.exits import Exit, NotNow, Stopped, called_as
from webapp.agent_cli.http_client import CALL_SECONDS, Reply, call, retry_after

DONE = frozenset({200, 201})
CONFLICT = 409
UNAUTHORIZED = 401
KEY_OF_A_DRAFT_THAT_IS_GONE = "idempotency_key_reused"
WAIT_MAX_SECONDS = 25  # of the API


class Api:
    """The API of one server; its calls raise Stopped."""

    def __init__(self, server: str, deadline: Deadline) -> None:
        self._server = server
        self._deadline = deadline

    def create_draft(self, body: bytes, idempotency_key: str) -> Reply:
        """createServiceDraft, once for each key."""
        headers = {"Content-Type": "application/json", "Idempotency-Key": idempotency_key}
        return self._call("POST", "/drafts", headers=headers, body=body)

    def wait_for_creator(self, draft_id: str) -> Reply:
        """getServiceDraftReview, as soon as the creator has decided, or after a while."""
        seconds = min(WAIT_MAX_SECONDS, int(self._deadline.left()))
        path = f"/drafts/{quote(draft_id, safe='')}/review?wait={seconds}"
        reply = self._call("GET", path, seconds=seconds + CALL_SECONDS)
        if (busy := retry_after(reply)) is not None:  # no place for one more wait
            self._deadline.pause(busy)
        return reply

    def publish(self, draft_id: str) -> Reply | None:
        """publishServiceDraft; None while the creator has not confirmed the draft as it is."""
        path = f"/drafts/{quote(draft_id, safe='')}/publish"
        reply = self._call("POST", path, body=b"", headers={"Content-Type": "application/json"})
        return None if reply.status == CONFLICT else reply

    def responses(self, form_id: str, since: str | None) -> dict[str, object]:
        """getServiceResponses: what came after the cursor."""
        query = f"?{urlencode({'since': since})}" if since else ""
        return self._call("GET", f"/forms/{quote(form_id, safe='')}/responses{query}").json()

    def _call(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: bytes | None = None,
        seconds: float = CALL_SECONDS,
    ) -> Reply:
        while True:
            try:
                reply = self._authorized(method, path, headers or {}, body, seconds)
            except NotNow as reason:
                self._deadline.failed(reason)
                continue
            self._deadline.answered()
            return _expected(reply)

    def _authorized(
        self, method: str, path: str, headers: dict[str, str], body: bytes | None, seconds: float
    ) -> Reply:
        """With a token; with another one when that has ended early."""
        refused = ""
        for _ in range(2):
            token = access_token(self._server, refused=refused)
            sent = {**headers, "Authorization": f"Bearer {token}", "Accept": "application/json"}
            url = f"{self._server}/api{path}"
            reply = call(method, url, headers=sent, body=body, seconds=seconds)
            if reply.status != UNAUTHORIZED or _lacks_scope(reply):
                break
            refused = token
        return reply


def _lacks_scope(reply: Reply) -> bool:
    """RFC 6750 section 3.1: another token of the same connection would not help."""
    return 'error="insufficient_scope"' in reply.headers.get("www-authenticate", "")


def _expected(reply: Reply) -> Reply:
    """A success, or a conflict that the caller handles. Raises Stopped."""
    if reply.status in DONE and reply.json():
        return reply
    if reply.status == CONFLICT:
        return reply
    code = {401: Exit.NOT_SIGNED_IN, 403: Exit.NOT_SIGNED_IN, 404: Exit.GONE}.get(reply.status)
    if reply.text("code") == KEY_OF_A_DRAFT_THAT_IS_GONE:
        code = Exit.GONE
    said = reply.text("message") or f"The server answers {reply.status}."
    resolution = reply.text("resolution")
    if code is Exit.NOT_SIGNED_IN:
        resolution = f"Run {called_as()} sign-in, and allow everything that it asks for."
    message = f"{said} {resolution}".strip()
    raise Stopped(code or Exit.WRONG_USE, message)
