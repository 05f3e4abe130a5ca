"""Every error code is raised somewhere, under the status of its class of refusals."""

import re
from http import HTTPStatus
from pathlib import Path

import pytest

from api.openapi.extensions import EXTENSIONS
from api.openapi.operations import OPERATIONS
from webapp.base.error_codes import ErrorCode, PageCode

ROOT = Path(__file__).parents[3]
# where codes are listed, not raised
LISTS = {"webapp/base/error_codes.py", "api/openapi/operations.py"}
LISTS |= {"api/openapi/extensions.py", "api/openapi/examples.py", "api/openapi/document.py"}
COMPARED = re.compile(r"code (?:[!=]=|in) (?:ErrorCode|PageCode)\.\w+|^PAGES.*?^}", re.M | re.S)
MEMBER = re.compile(r"\b((?:ErrorCode|PageCode)\.[A-Z_]+)")


def raised_codes() -> set[str]:
    """Enum members named in the code, except where the code of a refusal is compared."""
    texts = [
        path.read_text()
        for folder in ("webapp", "api")
        for path in (ROOT / folder).rglob("*.py")
        if str(path.relative_to(ROOT)) not in LISTS
    ]
    return {name for text in texts for name in MEMBER.findall(COMPARED.sub("", text))}


def test_every_code_is_raised_somewhere() -> None:
    codes = {f"{type(code).__name__}.{code.name}" for code in [*ErrorCode, *PageCode]}

    assert codes - raised_codes() == set()


def test_no_code_has_two_meanings() -> None:
    codes = [*ErrorCode, *PageCode]

    assert len(set(codes)) == len(codes)
    assert all(code.name == code.value.upper() for code in codes)


def test_a_code_of_the_api_says_what_it_means_and_what_to_do() -> None:
    for code in ErrorCode:
        assert code.meaning
        assert code.meaning[-1] not in ".;"
        assert code.remedy.endswith(".")


@pytest.mark.parametrize(
    "operation", [*OPERATIONS, *EXTENSIONS], ids=lambda operation: operation.path
)
def test_the_document_lists_a_code_under_its_status(operation: object) -> None:
    listed: dict[HTTPStatus, tuple[ErrorCode, ...]] = operation.codes

    assert all(code.status is status for status, codes in listed.items() for code in codes)
