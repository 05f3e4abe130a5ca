"""The header and the footer around the pages of a creator."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ExampleSite
from tests.browser.example_pages import ExamplePage, at
from tests.browser.example_steps import ALL

INBOX = ExamplePage("inbox", at("/drafts"), signed_in=True)
HEADER = """() => {
  const box = (selector) => document.querySelector(selector).getBoundingClientRect();
  const base = (part) => {
    const words = document.createRange();
    words.selectNodeContents(part);
    const size = parseFloat(getComputedStyle(part).fontSize);
    return words.getBoundingClientRect().bottom - size * .25;
  };
  const links = [...document.querySelectorAll(".site-header__nav a")];
  const header = box(".site-header"), logo = box(".site-header .wordmark");
  const account = document.querySelector(".site-header__account a");
  return {
    height: header.height,
    rows: new Set([...links, account].map((one) => one.getBoundingClientRect().top > 55)).size,
    unlike: Math.abs(base(links[1]) - base(account.firstElementChild)),
    margins: logo.left - (innerWidth - account.getBoundingClientRect().right),
    gap: header.bottom - 1 - links[0].getBoundingClientRect().bottom,
  };
}"""
FOOTER = """() => [...document.querySelectorAll(".site-footer details")].map((one) => {
  const word = one.firstElementChild.getBoundingClientRect();
  one.open = true;
  const now = one.firstElementChild.getBoundingClientRect();
  const first = one.querySelector("button, kbd").getBoundingClientRect();
  return {
    moved: [now.left - word.left, now.top - word.top],
    beside: first.left > now.right && Math.abs(first.bottom - now.bottom) < 16,
    marker: getComputedStyle(one.firstElementChild).listStyleType,
  };
})"""


@pytest.mark.parametrize(("width", "most"), [(1280, 62), (320, 106)])
def test_the_header_has_one_baseline_and_no_more_rows_than_needed(
    site: ExampleSite, width: int, most: int
) -> None:
    with site.open(INBOX, width=width, height=800) as page:
        header = page.evaluate(HEADER)

    assert header["height"] <= most
    assert abs(header["margins"]) <= 1  # the account ends where the page does
    assert abs(header["gap"]) <= 1  # the mark of the open page lies on the line
    if width > 1000:
        assert header["rows"] == 1
        assert header["unlike"] <= 1


def test_what_opens_in_the_footer_stands_beside_its_word(site: ExampleSite) -> None:
    with site.open(INBOX, height=800) as page:
        opened = page.evaluate(FOOTER)

    assert len(opened) == 2
    for one in opened:
        assert one == {"moved": [0, 0], "beside": True, "marker": "none"}


@pytest.mark.parametrize(
    ("name", "size", "button"),
    [
        ("join", (1280, 800), "Create account"),
        ("sign-in", (1280, 800), "Sign in"),
        ("inbox-empty", (1280, 800), "Copy what to say"),
        ("inbox-empty", (390, 664), "Copy what to say"),
    ],
)
def test_the_main_button_is_seen_without_scrolling(
    site: ExampleSite, name: str, size: tuple[int, int], button: str
) -> None:
    example = next(one for one in ALL if one.name == name)
    with site.open(example, width=size[0], height=size[1]) as page:
        expect(page.get_by_role("button", name=button)).to_be_in_viewport(ratio=1)
