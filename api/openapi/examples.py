"""Examples of bodies and of errors."""

from collections.abc import Callable
from typing import Any

from api.bodies import too_large
from api.errors import ALWAYS_SAID, four_fields
from api.openapi.components import DRAFT_ID, FORM_ID, SUBSCRIPTION_ID
from api.wire import drafts, forms, responses, subscriptions, types
from api.wire.event_stream import frame
from api.wire.timestamps import parse_since
from webapp.base.errors import ErrorCode, InvalidInput
from webapp.records.content.draft_input import parse_draft_input
from webapp.records.content.model import DRAFT_SETTINGS

Json = dict[str, Any]

TITLE = "How your rota really gets made"
GOAL = "Find out why shifts change at short notice"
WHO = "Who was the last person to change this week’s rota, and why?"
SHIFT = {
    "id": "last_shift",
    "text": "Tell me about the last time a shift went wrong.",
    "context": "A short story is fine.",
}
QUESTION_ID = "q_8e1d3b5f7a9c0e2d4f6b8a1c"
SENT_AT = "2026-11-21T10:41:12.468Z"

CREATE: Json = {
    "title": TITLE,
    "goal": GOAL,
    "questions": [WHO, SHIFT],
    "responseMode": "text_only",
}
UPDATE: Json = {
    "goal": "",
    "followUpMode": "smart",
    "context": "The owner of a café with nine people wants fewer changes on Fridays.",
    "maxTotalQuestions": 6,
}
FOLLOW_UPS: Json = {
    "followUps": {
        "1": [{"text": "What else could have been done that day?"}],
        SHIFT["id"]: [
            {"text": "What happened next?", "when": "if_short"},
            {"text": "What would have helped?", "when": "if_several"},
        ],
    }
}
AGENT_TOKEN: Json = {"label": "Rota script", "expiresInSeconds": 86_400}
SUBSCRIBE: Json = {
    "url": "https://hooks.example.com/askback?flow=7",
    "secret": "whsec_QW4gZXhhbXBsZSwgbm90IGEgc2VjcmV0IQ==",
    "ttlSeconds": 86_400,
}
# of fields, wherever they stand; {origin} is the public address
KNOWN: Json = {
    "draftId": DRAFT_ID,
    "formId": FORM_ID,
    "askId": FORM_ID,
    "title": TITLE,
    "goal": GOAL,
    "questions": [{"id": QUESTION_ID, "text": WHO}, SHIFT],
    "status": "published",
    "shareUrl": "{origin}/r/mJ3v9QhT2kXw8LzR5bYc1A",
    "url": "{origin}/r/mJ3v9QhT2kXw8LzR5bYc1A",
    "questionCount": 2,
    "responseLimit": "multiple",
    "idempotent": False,
    "formCount": 1,
    "responseCount": 1,
    "returnedResponseCount": 1,
    "returnedAnswerCount": 2,
    "hasResponses": True,
    "latestResponseAt": SENT_AT,
    "publishedAt": "2026-11-21T10:12:00.250Z",
    "nextSince": SENT_AT,
    "truncated": False,
    "sessionId": "ses_2c4e6a8b0d1f3e5c7a9b1d3f",
    "responderName": "Kim",
    "submittedAt": SENT_AT,
    "createdAt": "2026-11-21T10:38:55.020Z",
    "answerTruncated": False,
    "attachments": [],
    "responseType": "text",
    "questionKind": "scripted",
    "parentQuestionId": None,
    "revision": 2,
    "state": "returned",
    "note": "Shorter, please: three questions at most, and none about names.",
    "reviewUrl": f"{{origin}}/drafts/{DRAFT_ID}",
    "tokenId": "agt_6c8e0a2b4d6f8a1c3e5b7d9f",
    "token": "askag_ExampleOfATokenThatNobodyHasAndThatOpensNothing00",
    "hint": "askag_Exa…ng00",
    "label": AGENT_TOKEN["label"],
    "expiresAt": "2026-11-22T10:12:00.250Z",
    "answersUrl": f"{{origin}}/api/agent/asks/{FORM_ID}/answers",
    "subscriptionId": SUBSCRIPTION_ID,
    "refreshBefore": "2026-11-22T10:12:00.250Z",
    "cursor": "AQ-example-of-a-position-that-is-opaque",
    "host": "hooks.example.com:443",
    "active": True,
    "lastDeliveryAt": None,
    "lastError": None,
}


def success_examples(public_url: str) -> dict[str, Any]:
    """The example of each success, by operation id."""
    return {name: _at(public_url, body) for name, body in _bodies().items()}


def _bodies() -> dict[str, Any]:
    usual, smart = _settings("none", 0, None), _settings("smart", 2, 6)
    unpublished = {"status": "draft", "publishedFormId": None, "shareUrl": None}
    created = _made(drafts.FormDraft, settings=usual, **unpublished)
    reworded = {"kind": "question_text", "before": "Who changed the rota?", "after": WHO}
    follow_ups = _made(drafts.DraftFollowUps, followUps=_prepared())
    given = [
        {"id": "ans_1d3f5b7a9c0e2d4f6a8b0c1e", "questionId": QUESTION_ID, "questionText": WHO}
        | {"answerText": "I did: two were ill.", "respondedAt": "2026-11-21T10:40:03.117Z"},
        {"id": "ans_7b9d1f3a5c6e8b0d2f4a6c8e", "questionId": SHIFT["id"]}
        | {"questionText": SHIFT["text"], "answerText": "Easter."}
        | {"respondedAt": "2026-11-21T10:41:03.117Z"},
    ]
    answers = [_made(responses.ResponseAnswer, **each) for each in given]
    session = _made(responses.ResponseSession, status="completed", answers=answers)
    page = _made(
        responses.AskAnswers,
        answers=[_made(responses.AskAnswer, **each) for each in given],
        completed=[_made(responses.CompletedResponse)],
    )
    return {
        "createServiceDraft": created,
        "getServiceDraft": created,
        "getServiceDraftReview": _made(
            drafts.DraftReview, changes=[reworded | {"questionId": QUESTION_ID}]
        ),
        "getServiceDraftFollowUps": follow_ups,
        "replaceServiceDraftFollowUps": follow_ups,
        "updateServiceDraft": _made(drafts.FormDraft, settings=smart, **unpublished, goal=None),
        "publishServiceDraft": _made(forms.PublishedForm),
        "listService": _made(forms.FormList, forms=[_made(forms.FormSummary)]),
        "getService": _made(forms.OwnedForm, settings=usual),
        "getServiceResponses": _made(
            responses.FormResponses,
            form=_made(responses.ResponseForm, settings=usual),
            responses=[session],
        ),
        "createAgentToken": _made(forms.MadeAgentToken),
        "createSubscription": _made(subscriptions.Subscription),
        "listSubscriptions": {"subscriptions": [_made(subscriptions.SubscriptionSummary)]},
        "getAskAnswers": page,
        "streamAsk": _stream(page),
    }


def _made(kind: Any, **values: object) -> Json:
    """An object of this type, with these values and the known ones."""
    return {name: (KNOWN | values)[name] for name in kind.__annotations__}


def _at(public_url: str, value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _at(public_url, each) for name, each in value.items()}
    if isinstance(value, list):
        return [_at(public_url, each) for each in value]
    return value.replace("{origin}", public_url) if isinstance(value, str) else value


def _settings(follow_ups: str, each: int, total: int | None) -> Json:
    return {setting.name: setting.default for setting in DRAFT_SETTINGS} | {
        "followUpMode": follow_ups,
        "responseMode": "text_only",
        "maxFollowupsPerQuestion": each,
        "maxTotalQuestions": total,
    }


def _prepared() -> Json:
    by_key: Json = FOLLOW_UPS["followUps"]
    usual = {"when": "always", "preparedBy": "agent"}
    return {
        QUESTION_ID if key == "1" else key: [usual | each for each in several]
        for key, several in by_key.items()
    }


def _stream(page: Json) -> str:
    status = {"askId": FORM_ID, "status": "published", "responseCount": 1}
    events = [frame("form_status", status)]
    events += [frame("answer", answer, answer["respondedAt"]) for answer in page["answers"]]
    events += [frame("completed", done, done["submittedAt"]) for done in page["completed"]]
    return b"".join(events).decode()


NOT_CONFIRMED = (
    "Ask the creator to {} and confirm {}, then retry. The review page is "
    f"{{{{origin}}}}/drafts/{DRAFT_ID} and GET {{{{origin}}}}/api/drafts/{DRAFT_ID}?wait=25 waits "
    "until it is confirmed."
)


def _refused(call: Callable[[Any], object], given: object) -> tuple[str, str]:
    """Message and resolution with which a call refuses what it was given."""
    try:
        call(given)
    except InvalidInput as failure:
        return failure.message, failure.resolution
    raise AssertionError(given)


# message and resolution of each code; {origin} is the public address
_SAID = {
    ErrorCode.INVALID_JSON: (
        "body: is not JSON at line 1, column 12.",
        "Send one JSON object in UTF-8 (RFC 8259).",
    ),
    ErrorCode.VALIDATION_FAILED: _refused(parse_draft_input, {"title": "x" * 134}),
    ErrorCode.UNKNOWN_FIELD: _refused(parse_draft_input, {"colour": "red"}),
    ErrorCode.CONTEXT_REQUIRED: (
        "context: smart follow-ups need a private context.",
        "Send `context` with a summary of what the follow-ups should know, or another "
        "followUpMode.",
    ),
    ErrorCode.INVALID_SINCE: _refused(parse_since, "yesterday"),
    ErrorCode.INVALID_TEXT: _refused(parse_draft_input, {"title": "One line\nmore"}),
    ErrorCode.PAYLOAD_TOO_LARGE: (too_large("body").message, too_large("body").resolution),
    ErrorCode.IDEMPOTENCY_KEY_REUSED: (
        "Idempotency-Key: was used with another body.",
        "Use a new key for a new draft, or repeat the first body exactly.",
    ),
    ErrorCode.CALLBACK_FAILED: (
        "url: did not answer the challenge (connection_refused).",
        "Give the address a host name that has public network addresses only, and something that "
        "listens there.",
    ),
    ErrorCode.AUTHENTICATION_REQUIRED: (
        "This call needs an access token.",
        "Complete OAuth as the WWW-Authenticate header says, with the scope forms:read forms:write "
        "responses:read, and retry with the header Authorization: Bearer and the access token.",
    ),
    ErrorCode.DRAFT_NOT_FOUND: (
        "There is no draft with this draftId in this account, or its creator discarded it.",
        "Use the draftId that creating the draft returned, with the same connected account.",
    ),
    ErrorCode.FORM_NOT_FOUND: (
        "There is no form with this formId in this account, or its creator deleted it.",
        "Use a formId that publishing or listing forms returned, with the same connected account.",
    ),
    ErrorCode.METHOD_NOT_ALLOWED: (
        "PUT is not possible at this address.",
        "Use a method that the Allow header names.",
    ),
    ErrorCode.DRAFT_NOT_CONFIRMED: (
        "The creator has not confirmed this draft yet.",
        NOT_CONFIRMED.format("open the draft", "it"),
    ),
    ErrorCode.CONFIRMATION_STALE: (
        "The draft changed after its creator confirmed it.",
        NOT_CONFIRMED.format("read", "the current revision"),
    ),
    ErrorCode.DRAFT_INCOMPLETE: (
        "title, questions[1].text: The draft lacks a title and words for every question.",
        "Add what is missing, then confirm and publish.",
    ),
    ErrorCode.DRAFT_ALREADY_PUBLISHED: (
        "The draft is published and cannot change any more.",
        "Create a new draft for a changed form.",
    ),
    ErrorCode.REVISION_CONFLICT: (
        "If-Match: The draft is at revision 2, not 1.",
        "Read the draft again, then repeat the request on its current revision.",
    ),
    ErrorCode.TOO_MANY_SUBSCRIPTIONS: (
        "The account has 100 live subscriptions, which is the limit.",
        "Wait until one expires, or unsubscribe where no event is needed any more.",
    ),
    ErrorCode.RATE_LIMITED: (
        "Too many write operations: the limit of new drafts is 30 per minute.",
        "Send the same request again in 42 seconds.",
    ),
    ErrorCode.INTERNAL_ERROR: (
        "The service could not complete the request.",
        "Send the same request again; if it fails again, tell the operator of this server the "
        "request id 7d0e2b4c6a8f1e3d.",
    ),
    **ALWAYS_SAID,
}


def error_examples(public_url: str) -> dict[str, dict[str, types.Error]]:
    """The example of each error code, by code."""
    return {
        code.value: {"value": four_fields(code, message, _at(public_url, resolution))}
        for code, (message, resolution) in _SAID.items()
    }
