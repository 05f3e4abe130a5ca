"""Asks people: makes the calls of the API in their order."""

import hashlib
import re
import secrets
import time
from operator import itemgetter
from typing import Any
from urllib.parse import quote

from httpx2 import Response

from webapp.agent_cli import connections
from webapp.agent_cli.connections import CALL_SECONDS, call, fields_of, text_of
from webapp.agent_cli.exits import Deadline, Exit, NotNow, Stopped, called_as, tell
from webapp.agent_cli.progress import Progress

DONE = frozenset({200, 201})
CONFLICT = 409
UNAUTHORIZED = 401
EXITS = {401: Exit.NOT_SIGNED_IN, 403: Exit.NOT_SIGNED_IN, 404: Exit.GONE}
KEY_OF_A_DRAFT_THAT_IS_GONE = "idempotency_key_reused"
WAIT_MAX_SECONDS = 25  # the API allows no longer wait
REVIEW_LINK = re.compile(r'<([^>]+)>;\s*rel="?edit-form"?')  # RFC 8288
KEY_KEPT_SECONDS = 23 * 3600  # an Idempotency-Key works for a day
LOOK_AGAIN_SECONDS = 0.5  # between two waits for the creator
SETTLED = ("confirmed", "published", "discarded")  # then publishing succeeds or fails for good
PAUSES = (1.0, 1.0, 2.0, 3.0, 5.0)  # seconds between two polls for answers


class Api:
    """The API of one server."""

    def __init__(self, server: str, deadline: Deadline) -> None:
        self._server = server
        self.deadline = deadline

    def call(
        self,
        method: str,
        path: str,
        *,
        content: bytes | None = None,
        seconds: float = CALL_SECONDS,
        key: str = "",
    ) -> Response:
        """Return a success, or a conflict; repeat while the server is away. Raises Stopped."""
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        headers |= {"Idempotency-Key": key} if key else {}
        url, refused = f"{self._server}/api{path}", ""
        while True:
            try:
                token = connections.access_token(self._server, refused=refused)
                headers["Authorization"] = f"Bearer {token}"
                reply = call(method, url, headers=headers, content=content, seconds=seconds)
            except NotNow as reason:
                self.deadline.failed(reason)
                continue
            self.deadline.failures = 0
            challenge = reply.headers.get("www-authenticate", "")
            # RFC 6750 section 3.1; another token of this connection would lack the scope, too
            lacks_scope = 'error="insufficient_scope"' in challenge
            if refused or lacks_scope or reply.status_code != UNAUTHORIZED:
                break
            refused = token  # the token ended early: get another one
        if reply.status_code == CONFLICT or (reply.status_code in DONE and fields_of(reply)):
            return reply
        raise _refused(reply)


def _refused(reply: Response) -> Stopped:
    code = EXITS.get(reply.status_code, Exit.WRONG_USE)
    if text_of(reply, "code") == KEY_OF_A_DRAFT_THAT_IS_GONE:
        code = Exit.GONE
    said = text_of(reply, "message") or f"The server answers {reply.status_code}."
    resolution = text_of(reply, "resolution")
    if code is Exit.NOT_SIGNED_IN:
        resolution = f"Run {called_as()} sign-in, and allow everything that it asks for."
    return Stopped(code, f"{said} {resolution}".strip())


def ask(progress: Progress, api: Api, body: str, responses: int) -> None:
    """Draft, wait for the creator, publish, and print the answers. Raises Stopped.

    body  the draft as JSON; may be empty only when an earlier command stored it
    """
    digest = hashlib.sha256(body.encode()).hexdigest()
    if not progress.digest:
        progress.note(body=body, digest=digest, idempotency_key=secrets.token_hex(6))
    elif body and digest != progress.digest:
        what = f"Something else was asked with the key {progress.key}; use another one."
        raise Stopped(Exit.WRONG_USE, what)
    progress.print_rest()
    if not progress.draft_id:
        _draft(progress, api)
    if not progress.form_id:
        _publish(progress, api)
    wait(progress, api, responses)


def wait(progress: Progress, api: Api, responses: int) -> None:
    """Print answers until people have sent `responses` responses. Raises Stopped."""
    progress.print_rest()
    api.deadline.late, api.deadline.why = Exit.NO_ANSWER, "Nobody sent a response in time."
    form_id = progress.form_id
    if progress.responses < responses:
        tell(f"Waiting for answers to {progress.share_url or form_id}")
    looks = 0
    while progress.responses < responses:
        query = f"?since={quote(progress.since)}" if progress.since else ""
        page = fields_of(api.call("GET", f"/forms/{quote(form_id, safe='')}/responses{query}"))
        if events := _events_of(page, form_id, progress.since):
            completed = sum(event["event"] == "completed" for event in events)
            number = progress.responses + completed
            progress.output(events, since=page["nextSince"], responses=number)
            looks = 0
        if page["truncated"]:
            continue
        if page["status"] == "completed" or progress.responses >= responses:
            return
        api.deadline.pause(PAUSES[min(looks, len(PAUSES) - 1)])
        looks += 1


def _events_of(page: dict[str, Any], form_id: str, since: str) -> list[dict[str, object]]:
    """Return an `answer` event per answer and a `completed` event per sent response, in order.

    A page repeats responses that have new answers. So `completed` covers only responses sent after
    `since` and up to the end of the page. The API writes all times in one width, so they compare
    as texts.
    """
    found: list[tuple[str, dict[str, object]]] = []
    for session in page["responses"]:
        of_response = {"formId": form_id, "responseId": session["sessionId"]}
        for answer in session["answers"]:
            found.append((answer["respondedAt"], {"event": "answer", **of_response, **answer}))
        sent = session["submittedAt"]
        if sent and since < sent <= (page["nextSince"] or ""):
            names = {"responderName": session["responderName"], "submittedAt": sent}
            found.append((sent, {"event": "completed", **of_response, **names}))
    return [event for _, event in sorted(found, key=itemgetter(0))]


def _draft(progress: Progress, api: Api) -> None:
    now = time.time()
    if progress.asked_at and progress.asked_at < now - KEY_KEPT_SECONDS:
        what = "This was sent a day ago, and nobody knows whether it arrived. Look at your drafts"
        raise Stopped(Exit.GONE, f"{what} on {progress.server}, then begin anew with another key.")
    progress.note(asked_at=progress.asked_at or now)
    try:
        key = progress.idempotency_key  # creates one draft
        reply = api.call("POST", "/drafts", content=progress.body.encode(), key=key)
    except Stopped as end:
        if end.code is Exit.WRONG_USE:  # no draft was created: the key is free for a correction
            progress.note(body="", digest="", asked_at=0)
        raise
    link = REVIEW_LINK.search(reply.headers.get("link", ""))
    draft_id, review_url = str(fields_of(reply)["draftId"]), link[1] if link else progress.server
    event = {"event": "draft", "key": progress.key, "draftId": draft_id, "reviewUrl": review_url}
    progress.output([event], draft_id=draft_id, review_url=review_url, body="")


def _publish(progress: Progress, api: Api) -> None:
    """Publish at once if the agent may decide that; otherwise wait for the creator."""
    path = f"/drafts/{quote(progress.draft_id, safe='')}"
    reply = api.call("POST", f"{path}/publish", content=b"")
    if reply.status_code == CONFLICT:
        tell(f"Waiting until this draft is confirmed: {progress.review_url}")
    while reply.status_code == CONFLICT:  # until the creator confirms the current draft
        if _is_settled(api, path):
            reply = api.call("POST", f"{path}/publish", content=b"")
        if reply.status_code == CONFLICT:
            api.deadline.pause(LOOK_AGAIN_SECONDS)
    form = fields_of(reply)
    form_id, share_url = str(form["formId"]), str(form["shareUrl"])
    event = {"event": "published", "formId": form_id, "shareUrl": share_url}
    progress.output([event], form_id=form_id, share_url=share_url)


def _is_settled(api: Api, path: str) -> bool:
    """Wait until the creator decides, or for a while; return whether publishing succeeds or fails
    for good. Raises Stopped if the draft was sent back.
    """
    seconds = min(WAIT_MAX_SECONDS, int(api.deadline.left()))
    reply = api.call("GET", f"{path}/review?wait={seconds}", seconds=seconds + CALL_SECONDS)
    if (busy := connections.retry_after(reply)) is not None:  # no slot for another wait
        api.deadline.pause(busy)
    review = fields_of(reply)
    state, note = review.get("state"), review.get("note")
    if state == "returned":
        quoted = f", with the note “{note}”" if note else ""
        said = f"The creator sent this draft back{quoted}. Change it first, then this goes on."
        raise Stopped(Exit.NOT_CONFIRMED, said)
    return state in SETTLED
