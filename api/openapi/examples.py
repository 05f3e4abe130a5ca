"""Examples of bodies and of errors."""

from typing import Any

from api.openapi.parameters import DRAFT_ID, FORM_ID
from api.wire.event_stream import frame
from api.wire.types import Error
from webapp.base.error_codes import ErrorCode
from webapp.records.content.draft_input import FIELDS
from webapp.records.content.model import DRAFT_SETTINGS

TITLE = "How your rota really gets made"
GOAL = "Find out why shifts change at short notice"
WHO = "Who was the last person to change this week’s rota, and why?"
SHIFT = {
    "id": "last_shift",
    "text": "Tell me about the last time a shift went wrong.",
    "context": "A short story is fine.",
}
QUESTION_ID = "q_8e1d3b5f7a9c0e2d4f6b8a1c"
PUBLISHED_AT = "2026-11-21T10:12:00.250Z"
SENT_AT = "2026-11-21T10:41:12.468Z"

CREATE: dict[str, Any] = {
    "title": TITLE,
    "goal": GOAL,
    "questions": [WHO, SHIFT],
    "responseMode": "text_only",
}
AGENT_TOKEN: dict[str, Any] = {"label": "Rota script", "expiresInSeconds": 86_400}
FOLLOW_UPS: dict[str, Any] = {
    "followUps": {
        "1": [{"text": "What else could have been done that day?"}],
        SHIFT["id"]: [
            {"text": "What happened next?", "when": "if_short"},
            {"text": "What would have helped?", "when": "if_several"},
        ],
    }
}
UPDATE: dict[str, Any] = {
    "goal": "",
    "followUpMode": "smart",
    "context": "The owner of a café with nine people wants fewer changes on Fridays.",
    "maxTotalQuestions": 6,
}


def bodies(public_url: str) -> dict[str, dict[str, Any] | str]:
    """The example of each success, by operation id."""
    share_url = f"{public_url}/r/mJ3v9QhT2kXw8LzR5bYc1A"
    created = _draft(GOAL, _settings("none", 0, None))
    asked = _asked(GOAL, _settings("none", 0, None))
    counted = {"responseCount": 1, "latestResponseAt": SENT_AT}
    summary = {
        "formId": FORM_ID,
        "title": TITLE,
        "url": share_url,
        "status": "published",
        "questionCount": 2,
        "responseLimit": "multiple",
        **counted,
        "publishedAt": PUBLISHED_AT,
    }
    published = {
        "formId": FORM_ID,
        "status": "published",
        "title": TITLE,
        "shareUrl": share_url,
        "questionCount": 2,
        "responseLimit": "multiple",
        "idempotent": False,
    }
    return {
        "createServiceDraft": created,
        "getServiceDraft": created,
        "getServiceDraftReview": _review(public_url),
        "getServiceDraftFollowUps": _follow_ups(),
        "replaceServiceDraftFollowUps": _follow_ups(),
        "updateServiceDraft": _draft(None, _settings("smart", 2, 6)),
        "publishServiceDraft": published,
        "listService": {"formCount": 1, "forms": [summary]},
        "getService": {**asked, "shareUrl": share_url, **counted, "publishedAt": PUBLISHED_AT},
        "getServiceResponses": _responses(asked, counted),
        "createAgentToken": _agent_token(public_url),
        "getAskAnswers": _ask_answers(),
        "streamAsk": _ask_stream(),
    }


def _settings(follow_ups: str, each: int, total: int | None) -> dict[str, Any]:
    return {setting.name: setting.default for setting in DRAFT_SETTINGS} | {
        "followUpMode": follow_ups,
        "responseMode": "text_only",
        "maxFollowupsPerQuestion": each,
        "maxTotalQuestions": total,
    }


def _draft(goal: str | None, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "draftId": DRAFT_ID,
        "status": "draft",
        "title": TITLE,
        "goal": goal,
        "questions": [{"id": QUESTION_ID, "text": WHO}, SHIFT],
        "settings": settings,
        "publishedFormId": None,
        "shareUrl": None,
    }


def _review(public_url: str) -> dict[str, Any]:
    reworded = {
        "kind": "question_text",
        "questionId": QUESTION_ID,
        "before": "Who changed the rota?",
        "after": WHO,
    }
    return {
        "draftId": DRAFT_ID,
        "revision": 2,
        "state": "returned",
        "note": "Shorter, please: three questions at most, and none about names.",
        "reviewUrl": f"{public_url}/drafts/{DRAFT_ID}",
        "changes": [reworded],
    }


def _follow_ups() -> dict[str, Any]:
    by_key: dict[str, Any] = FOLLOW_UPS["followUps"]
    usual = {"when": "always", "preparedBy": "agent"}
    ids = {"1": QUESTION_ID}
    return {
        "draftId": DRAFT_ID,
        "followUps": {
            ids.get(key, key): [usual | each for each in several] for key, several in by_key.items()
        },
    }


def _asked(goal: str, settings: dict[str, Any]) -> dict[str, Any]:
    return {
        "formId": FORM_ID,
        "title": TITLE,
        "goal": goal,
        "questions": [{"id": QUESTION_ID, "text": WHO}, SHIFT],
        "settings": settings,
        "status": "published",
    }


def _agent_token(public_url: str) -> dict[str, Any]:
    return {
        "tokenId": "agt_6c8e0a2b4d6f8a1c3e5b7d9f",
        "token": "askag_ExampleOfATokenThatNobodyHasAndThatOpensNothing00",
        "hint": "askag_Exa…ng00",
        "askId": FORM_ID,
        "label": AGENT_TOKEN["label"],
        "expiresAt": "2026-11-22T10:12:00.250Z",
        "answersUrl": f"{public_url}/api/agent/asks/{FORM_ID}/answers",
    }


def _ask_answers() -> dict[str, Any]:
    session = _session()
    of_session = {"sessionId": session["sessionId"]}
    return {
        "askId": FORM_ID,
        "status": "published",
        "answers": [answer | of_session for answer in session["answers"]],
        "completed": [of_session | {"submittedAt": SENT_AT}],
        "nextSince": SENT_AT,
        "truncated": False,
    }


def _ask_stream() -> str:
    page = _ask_answers()
    status = {"askId": FORM_ID, "status": "published", "responseCount": 1}
    events = [frame("form_status", status)]
    events += [frame("answer", answer, answer["respondedAt"]) for answer in page["answers"]]
    events += [frame("completed", done, done["submittedAt"]) for done in page["completed"]]
    return b"".join(events).decode()


def _session() -> dict[str, Any]:
    return {
        "sessionId": "ses_2c4e6a8b0d1f3e5c7a9b1d3f",
        "responderName": "Kim",
        "status": "completed",
        "submittedAt": SENT_AT,
        "createdAt": "2026-11-21T10:38:55.020Z",
        "answers": [
            _answer("ans_1d3f5b7a9c0e2d4f6a8b0c1e", QUESTION_ID, WHO, "I did: two were ill.", "40"),
            _answer("ans_7b9d1f3a5c6e8b0d2f4a6c8e", SHIFT["id"], SHIFT["text"], "Easter.", "41"),
        ],
    }


def _responses(asked: dict[str, Any], counted: dict[str, Any]) -> dict[str, Any]:
    return {
        "form": asked,
        "status": "published",
        **counted,
        "returnedResponseCount": 1,
        "returnedAnswerCount": 2,
        "hasResponses": True,
        "nextSince": SENT_AT,
        "responses": [_session()],
        "truncated": False,
    }


def _answer(answer_id: str, question_id: str, question: str, text: str, minute: str) -> Any:
    return {
        "id": answer_id,
        "questionId": question_id,
        "questionText": question,
        "answerText": text,
        "answerTruncated": False,
        "attachments": [],
        "responseType": "text",
        "questionKind": "scripted",
        "parentQuestionId": None,
        "respondedAt": f"2026-11-21T10:{minute}:03.117Z",
    }


CONTEXT = (
    "Send `context` with a summary of what the follow-ups should know, or another followUpMode."
)
TEXTS = (
    "Send the text without that character. Titles, labels and ids are one line without control "
    "characters; other texts may hold line breaks."
)
REMOVE = f"Remove the field; those of this object are {', '.join(FIELDS[:-1])} and {FIELDS[-1]}."
SIZE = (
    "Send less text: question texts have no limit of their own, but all questions of a draft "
    "together must fit into 256 KiB."
)
SINCE = (
    "Send the nextSince of an earlier result unchanged, as 2026-11-21T10:40:00.123Z; leave since "
    "out as long as nextSince is null."
)
NOT_CONFIRMED = (
    "Ask the creator to open the draft and confirm it, then retry. The review page is "
    f"{{origin}}/drafts/{DRAFT_ID} and GET {{origin}}/api/drafts/{DRAFT_ID}?wait=25 waits until "
    "it is confirmed."
)
STALE = NOT_CONFIRMED.replace(
    "open the draft and confirm it", "read and confirm the current revision"
)
OAUTH = (
    "Complete OAuth as the WWW-Authenticate header says, with the scope forms:read forms:write "
    "responses:read, and retry with the header Authorization: Bearer and the access token."
)
FAULT = (
    "Send the same request again; if it fails again, tell the operator of this server the "
    "request id 7d0e2b4c6a8f1e3d."
)

# code, message, resolution; {origin} is the public address
_SAID = (
    (
        ErrorCode.INVALID_JSON,
        "body: is not JSON at line 1, column 12.",
        "Send one JSON object in UTF-8 (RFC 8259).",
    ),
    (
        ErrorCode.VALIDATION_FAILED,
        "title: has 134 characters; at most 120 are allowed.",
        "Correct the field and send the request again.",
    ),
    (ErrorCode.UNKNOWN_FIELD, "colour: is not a field of this object.", REMOVE),
    (ErrorCode.CONTEXT_REQUIRED, "context: smart follow-ups need a private context.", CONTEXT),
    (
        ErrorCode.INVALID_SINCE,
        'since: is "yesterday"; an RFC 3339 date-time with an offset is needed.',
        SINCE,
    ),
    (ErrorCode.INVALID_TEXT, "title: contains the control character U+000A at character 9.", TEXTS),
    (ErrorCode.PAYLOAD_TOO_LARGE, "body: is larger than 256 KiB.", SIZE),
    (
        ErrorCode.IDEMPOTENCY_KEY_REUSED,
        "Idempotency-Key: was used with another body.",
        "Use a new key for a new draft, or repeat the first body exactly.",
    ),
    (
        ErrorCode.CALLBACK_FAILED,
        "url: did not answer the challenge (connection_refused).",
        "Give the address a host name that has public network addresses only, and something that "
        "listens there.",
    ),
    (ErrorCode.AUTHENTICATION_REQUIRED, "This call needs an access token.", OAUTH),
    (
        ErrorCode.DRAFT_NOT_FOUND,
        "There is no draft with this draftId in this account, or its creator discarded it.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    ),
    (
        ErrorCode.FORM_NOT_FOUND,
        "There is no form with this formId in this account, or its creator deleted it.",
        "Use a formId that publishing or listing forms returned, with the same connected account.",
    ),
    (
        ErrorCode.NOT_FOUND,
        "There is nothing at this address.",
        "Use the paths of the OpenAPI document at /api/openapi.",
    ),
    (
        ErrorCode.METHOD_NOT_ALLOWED,
        "PUT is not possible at this address.",
        "Use a method that the Allow header names.",
    ),
    (ErrorCode.DRAFT_NOT_CONFIRMED, "The creator has not confirmed this draft yet.", NOT_CONFIRMED),
    (ErrorCode.CONFIRMATION_STALE, "The draft changed after its creator confirmed it.", STALE),
    (
        ErrorCode.DRAFT_INCOMPLETE,
        "title, questions[1].text: The draft lacks a title and words for every question.",
        "Add what is missing, then confirm and publish.",
    ),
    (
        ErrorCode.DRAFT_ALREADY_PUBLISHED,
        "The draft is published and cannot change any more.",
        "Create a new draft for a changed form.",
    ),
    (
        ErrorCode.REVISION_CONFLICT,
        "If-Match: The draft is at revision 2, not 1.",
        "Read the draft again, then repeat the request on its current revision.",
    ),
    (
        ErrorCode.TOO_MANY_SUBSCRIPTIONS,
        "The account has 100 live subscriptions, which is the limit.",
        "Wait until one expires, or unsubscribe where no event is needed any more.",
    ),
    (
        ErrorCode.RANGE_NOT_SATISFIABLE,
        "Range: none of the bytes that it names are there.",
        "Send a Range inside the size of the attachment, or none for all of it.",
    ),
    (
        ErrorCode.RATE_LIMITED,
        "Too many write operations: the limit of new drafts is 30 per minute.",
        "Send the same request again in 42 seconds.",
    ),
    (
        ErrorCode.TOO_MANY_STREAMS,
        "This agent token or its account has too many streams open, or this server has no room.",
        "Close one, or connect again in 5 seconds; GET …/answers needs no stream.",
    ),
    (ErrorCode.INTERNAL_ERROR, "The service could not complete the request.", FAULT),
    (
        ErrorCode.STORAGE_UNAVAILABLE,
        "The storage does not answer just now; nothing was changed.",
        "Send the same request again in a few seconds.",
    ),
)


def errors(public_url: str) -> dict[str, Error]:
    """The example of each error code, by code."""
    return {
        code.value: Error(
            error=message,
            code=code,
            message=message,
            resolution=resolution.replace("{origin}", public_url),
        )
        for code, message, resolution in _SAID
    }
