"""Calls of every operation, and what a refusal says."""

import re
from typing import Any

from werkzeug.test import TestResponse

from api.openapi.operations import EXTENSIONS, OPERATIONS, Operation
from tests.api.conftest import Agent, refusal
from tests.webhook_receiver import SECRET

# without these nothing else in a body is looked at; the address leads inside, so nobody is asked
NEEDED: dict[str, dict[str, Any]] = {
    "createSubscription": {"url": "https://localhost/", "secret": SECRET},
    "replaceServiceDraftFollowUps": {"followUps": {}},
}
OF_CONNECTIONS = [operation for operation in (*OPERATIONS, *EXTENSIONS) if operation.scope]
OF_LIBRARIES = re.compile(
    r"(?i:pydantic|orjson|werkzeug|flask|authlib|sqlalchemy|psycopg|sqlite|redis|granian|python)"
    r"|Input should|Expecting|delimiter|dictionary|instance of|valid (?:string|list)|Traceback"
    r"|\bNone\b|\bTrue\b|\bFalse\b|\bdict\b|\bstr\b|\bint\b|codec|Errno|Exception"
)
TELLS_WHAT_TO_DO = re.compile(
    r"(?:Send|Use|Remove|Correct|Leave|Add|Ask|Give|Create|Read|Wait|Refresh|Call|Complete) "
)


def send(agent: Agent, operation: Operation, draft_id: str, **request: Any) -> TestResponse:
    form_id = request.pop("form_id", draft_id)
    others = {"subscriptionId": "sub_1", "attachmentId": "att_1"}
    path = operation.path.format(draftId=draft_id, formId=form_id, **others)
    if operation.takes and "data" not in request:
        request["json"] = NEEDED.get(operation.id, {}) | request.get("json", {})
    return agent.call(operation.method, path, **request)


def assert_readable(response: TestResponse, code: str, begins: str = "") -> None:
    assert refusal(response)[1] == code
    message, resolution = response.json["message"], response.json["resolution"]
    assert message.startswith(begins)
    for sentence in (message, resolution):
        assert OF_LIBRARIES.search(sentence) is None
        assert sentence.endswith(".")
        assert len(sentence) < 800
    assert TELLS_WHAT_TO_DO.match(resolution)
