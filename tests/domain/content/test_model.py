"""The columns of a content are the same in its tables, as a row and as values by name."""

from typing import Any, get_args, get_type_hints

import pytest

from webapp.domain.content.model import CONTENT_COLUMNS, Content, ContentRow, DraftUpdate
from webapp.domain.drafts.models import Draft, DraftRow
from webapp.domain.forms.models import Form, FormRow


def columns_of(table: type[Any]) -> dict[str, object]:
    """The types of the mapped columns by name."""
    hints = get_type_hints(table).items()
    return {name: get_args(hint)[0] for name, hint in hints if "Mapped" in str(hint)}


def test_values_by_name_have_the_columns_of_the_table() -> None:
    assert get_type_hints(DraftUpdate) == columns_of(Content)
    assert set(CONTENT_COLUMNS) == columns_of(Content).keys()


@pytest.mark.parametrize(
    ("row", "table"), [(ContentRow, Content), (DraftRow, Draft), (FormRow, Form)]
)
def test_a_row_has_the_columns_of_its_table(row: type[Any], table: type[Any]) -> None:
    assert get_type_hints(row) == columns_of(table)
