"""Checks that a refusal is sentences of ours, without texts of libraries, and has a remedy."""

import re

from werkzeug.test import TestResponse

from tests.api.conftest import refusal

OF_LIBRARIES = re.compile(
    r"(?i:pydantic|orjson|werkzeug|flask|authlib|sqlalchemy|psycopg|sqlite|redis|granian|python)"
    r"|Input should|Expecting|delimiter|dictionary|instance of|valid (?:string|list)|Traceback"
    r"|\bNone\b|\bTrue\b|\bFalse\b|\bdict\b|\bstr\b|\bint\b|codec|Errno|Exception"
)
TELLS_WHAT_TO_DO = re.compile(
    r"(?:Send|Use|Remove|Correct|Leave|Add|Ask|Give|Create|Read|Wait|Refresh|Call|Complete) "
)


def assert_readable(response: TestResponse, code: str, begins: str = "") -> None:
    assert refusal(response)[1] == code
    message, resolution = response.json["message"], response.json["resolution"]
    assert message.startswith(begins)
    for sentence in (message, resolution):
        assert OF_LIBRARIES.search(sentence) is None
        assert sentence.endswith(".")
        assert len(sentence) < 800
    assert TELLS_WHAT_TO_DO.match(resolution)
