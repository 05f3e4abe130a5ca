"""Example bodies of the OpenAPI document: one form from its draft to its responses."""

from typing import Any

from api.openapi.parameters import DRAFT_ID, FORM_ID
from webapp.domain.content.model import DRAFT_SETTINGS
from webapp.wire.event_stream import frame

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
    told = {"sessionId": session["sessionId"]}
    return {
        "askId": FORM_ID,
        "status": "published",
        "answers": [answer | told for answer in session["answers"]],
        "completed": [told | {"submittedAt": SENT_AT}],
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
