"""Calls of the API, and asking people."""

import hashlib
import re
import time
from operator import itemgetter
from typing import Any, cast
from urllib.parse import quote, urlencode

from webapp.agent_cli.connections import access_token
from webapp.agent_cli.exits import Deadline, Exit, NotNow, Stopped, called_as, tell
from webapp.agent_cli.http_client import CALL_SECONDS, Reply, call, retry_after
from webapp.agent_cli.progress import Progress, new_key

Event = dict[str, object]
Stamped = tuple[str, Event]


def events_of(page: dict[str, Any], form_id: str, since: str) -> list[Event]:
    """`answer` for each answer, and `completed` for each response that was sent.

    A page has the status of a response also where only answers of it are new. `completed` is for
    those that were sent after `since` and not beyond the page. Moments of the API have one width,
    so they compare as texts.
    """
    found: list[Stamped] = []
    for session in page["responses"]:
        of_response = {"formId": form_id, "responseId": session["sessionId"]}
        for answer in session["answers"]:
            found.append((answer["respondedAt"], {"event": "answer", **of_response, **answer}))
        sent = session["submittedAt"]
        if sent and since < sent <= (page["nextSince"] or ""):
            names = {"responderName": session["responderName"], "submittedAt": sent}
            found.append((sent, {"event": "completed", **of_response, **names}))
    return [event for _, event in sorted(found, key=itemgetter(0))]


def count_completed(events: list[Event]) -> int:
    """How many responses were sent."""
    return sum(event["event"] == "completed" for event in events)


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


REVIEW_LINK = re.compile(r'<([^>]+)>;\s*rel="?edit-form"?')  # RFC 8288
KEY_KEPT_SECONDS = 23 * 3600  # an Idempotency-Key works for a day
LOOK_AGAIN_SECONDS = 0.5  # when a wait for the creator has ended
SETTLED = ("confirmed", "published", "discarded")  # what publishing answers, or refuses for good
PAUSES = (1.0, 1.0, 2.0, 3.0, 5.0)  # seconds between two looks for answers


def ask(progress: Progress, api: Api, deadline: Deadline, body: str, responses: int) -> None:
    """Draft, wait for the creator, publish, print the answers. Raises Stopped."""
    _note_body(progress, body)
    progress.print_rest()
    if not progress.steps.draft_id:
        _draft(progress, api)
    if not progress.steps.form_id:
        _publish(progress, api, deadline)
    wait(progress, api, deadline, responses)


def wait(progress: Progress, api: Api, deadline: Deadline, responses: int) -> None:
    """Print answers until so many responses were sent. Raises Stopped."""
    progress.print_rest()
    deadline.late, deadline.why = Exit.NO_ANSWER, "Nobody sent a response in time."
    steps = progress.steps
    if steps.responses < responses:
        tell(f"Waiting for answers to {steps.share_url or steps.form_id}")
    looks = 0
    while progress.steps.responses < responses:
        page = cast(dict[str, Any], api.responses(steps.form_id, progress.steps.since))
        found = events_of(page, steps.form_id, progress.steps.since)
        if found:
            number = progress.steps.responses + count_completed(found)
            progress.output(found, since=page["nextSince"], responses=number)
            looks = 0
        if page["truncated"]:
            continue
        if page["status"] == "completed" or progress.steps.responses >= responses:
            return
        deadline.pause(PAUSES[min(looks, len(PAUSES) - 1)])
        looks += 1


def _note_body(progress: Progress, body: str) -> None:
    """Keep what is asked, or make sure that it is the same as before. Raises Stopped.

    body  empty only when it was kept before
    """
    steps = progress.steps
    digest = hashlib.sha256(body.encode()).hexdigest()
    if not steps.digest:
        progress.note(body=body, digest=digest, idempotency_key=new_key())
    elif body and digest != steps.digest:
        what = f"Something else was asked with the key {steps.key}; use another one."
        raise Stopped(Exit.WRONG_USE, what)


def _draft(progress: Progress, api: Api) -> None:
    steps, now = progress.steps, time.time()
    if steps.asked_at and steps.asked_at < now - KEY_KEPT_SECONDS:
        what = "This was sent a day ago, and nobody knows whether it arrived. Look at your drafts"
        raise Stopped(Exit.GONE, f"{what} on {steps.server}, then begin anew with another key.")
    progress.note(asked_at=steps.asked_at or now)
    try:
        reply = api.create_draft(steps.body.encode(), steps.idempotency_key)
    except Stopped as end:
        if end.code is Exit.WRONG_USE:  # nothing was made: the key is free for what is corrected
            progress.note(body="", digest="", asked_at=0)
        raise
    draft_id, review_url = str(reply.json()["draftId"]), _review_url(steps.server, reply)
    event = {"event": "draft", "key": steps.key, "draftId": draft_id, "reviewUrl": review_url}
    progress.output([{**event}], draft_id=draft_id, review_url=review_url, body="")


def _review_url(server: str, reply: Reply) -> str:
    named = REVIEW_LINK.search(reply.headers.get("link", ""))
    return named[1] if named else server


def _publish(progress: Progress, api: Api, deadline: Deadline) -> None:
    """An agent that may decide itself publishes at once; others wait for the creator."""
    draft_id = progress.steps.draft_id
    published = api.publish(draft_id)
    if published is None:
        tell(f"Waiting until this draft is confirmed: {progress.steps.review_url}")
    while published is None:
        if _is_settled(api.wait_for_creator(draft_id).json()):
            published = api.publish(draft_id)
        if published is None:
            deadline.pause(LOOK_AGAIN_SECONDS)
    form = published.json()
    links = {"formId": str(form["formId"]), "shareUrl": str(form["shareUrl"])}
    steps = {"form_id": links["formId"], "share_url": links["shareUrl"]}
    progress.output([{"event": "published", **links}], **steps)


def _is_settled(review: dict[str, Any]) -> bool:
    """Whether publishing tells how it ends. Raises Stopped when the draft was sent back."""
    state, note = review.get("state"), review.get("note")
    if state == "returned":
        quoted = f", with the note “{note}”" if note else ""
        said = f"The creator sent this draft back{quoted}. Change it first, then this goes on."
        raise Stopped(Exit.NOT_CONFIRMED, said)
    return state in SETTLED
