"""The document of the API lists each error code under the status of its class of refusals."""

from http import HTTPStatus

import pytest

from api.openapi.operations import EXTENSIONS, OPERATIONS
from webapp.base.error_codes import ErrorCode


@pytest.mark.parametrize(
    "operation", [*OPERATIONS, *EXTENSIONS], ids=lambda operation: operation.path
)
def test_the_document_lists_a_code_under_its_status(operation: object) -> None:
    listed: dict[HTTPStatus, tuple[ErrorCode, ...]] = operation.codes

    assert all(code.status is status for status, codes in listed.items() for code in codes)
