"""Every error code is raised somewhere, under the status of its class of refusals."""

from http import HTTPStatus

import pytest

from api.openapi.operations import EXTENSIONS, OPERATIONS
from webapp.base.error_codes import ErrorCode

# where codes are listed, not raised
LISTS = {"webapp/base/error_codes.py", "api/openapi/operations.py"}
LISTS |= {"api/openapi/extensions.py", "api/openapi/examples.py", "api/openapi/document.py"}


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
