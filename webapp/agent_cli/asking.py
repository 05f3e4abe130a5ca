"""`askback ask` and `askback wait`: draft, confirmation, form, answers; each step once."""

import hashlib
import re
import time
from typing import Any, cast

from webapp.agent_cli.api import Api
from webapp.agent_cli.deadline import Deadline
from webapp.agent_cli.exits import Exit, Stopped, tell
from webapp.agent_cli.http_client import Reply
from webapp.agent_cli.pages import count_completed, events_of
from webapp.agent_cli.progress import Progress, new_key

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
    told = {"formId": str(form["formId"]), "shareUrl": str(form["shareUrl"])}
    steps = {"form_id": told["formId"], "share_url": told["shareUrl"]}
    progress.output([{"event": "published", **told}], **steps)


def _is_settled(review: dict[str, Any]) -> bool:
    """Whether publishing tells how it ends. Raises Stopped when the draft was sent back."""
    state, note = review.get("state"), review.get("note")
    if state == "returned":
        quoted = f", with the note “{note}”" if note else ""
        said = f"The creator sent this draft back{quoted}. Change it first, then this goes on."
        raise Stopped(Exit.NOT_CONFIRMED, said)
    return state in SETTLED
