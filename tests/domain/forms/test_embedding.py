"""Which websites may frame a form: exactly written origins, https only."""

import pytest

from webapp.base.errors import InvalidInput
from webapp.drafts.form_settings import FRAME_ORIGINS_MAX, parse_origins


@pytest.mark.parametrize(
    ("typed", "origins"),
    [
        ("", []),
        ("https://shop.example", ["https://shop.example"]),
        ("HTTPS://Shop.Example:443", ["https://shop.example"]),
        ("https://shop.example:08443", ["https://shop.example:8443"]),
        ("https://a.example, https://b.example\nhttps://a.example", ["https://a.example", "https://b.example"]),
    ],
)  # fmt: skip
def test_origins_are_read_as_browsers_write_them(typed: str, origins: list[str]) -> None:
    assert parse_origins(typed) == origins


WRONG = """
    * null 'self' shop.example https:// http://shop.example https://*.shop.example
    https://shop.example/page https://ann@shop.example https://shop.example:0
    https://shop.example:65536 https://shop..example https://-shop.example https://[::1]
    https://bücher.example https://ſhop.example https://shop.example;script-src data:text/html
    https://shop.example\0
"""
TOO_LONG = ["https://" + "a" * 64 + ".example", "https://" + "a." * 130 + "example"]


@pytest.mark.parametrize("typed", [*WRONG.split(), *TOO_LONG])
def test_anything_else_is_refused_by_name(typed: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_origins(f"https://a.example {typed}")

    assert refused.value.code == "origin_unreadable"
    assert typed[:20] in refused.value.message


def test_the_number_of_origins_is_bounded() -> None:
    most = [f"https://{number}.example" for number in range(FRAME_ORIGINS_MAX)]

    assert parse_origins(" ".join(most)) == most
    with pytest.raises(InvalidInput, match="There are 11 addresses"):
        parse_origins(" ".join([*most, "https://one-more.example"]))
