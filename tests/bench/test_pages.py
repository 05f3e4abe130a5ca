"""The page that everybody who gets a link opens, against a bare route that renders one like it.

That route looks the form up, as a page has to that is to be closed at once when its form is.
"""

from collections.abc import Callable
from html import escape
from pathlib import Path

import pytest

from tests.bench.ceiling import TEMPLATE, VALUES
from tests.bench.figures import BEFORE, Requests, Side, Table, compare
from tests.bench.load import request
from tests.bench.servers import served
from tests.bench.work import CONNECTIONS, Work, new_form
from tests.databases import both_databases
from tests.proof.killing import exchange
from webapp.base.config import Settings

pytestmark = [pytest.mark.bench, both_databases]

HOST = "127.0.0.1:8000"  # of the public address
PAGES = 60  # of one connection in one round


def test_share_page(settings: Settings, work: Work, table: Table) -> None:
    link = f"/r/{new_form(work).share_token}"
    with served("askback", 1, settings) as askback:
        shown = exchange(next(iter(askback)), "GET", link, headers={"Host": HOST}).body
        leave_template(shown, settings.data_folder)
        with served("ceiling", 1, settings) as ceiling:
            bare = Side(list(ceiling), pages(f"/template{link.removeprefix('/r')}"))
            pair = compare(bare, Side(list(askback), pages(link)))
    name = f"share page, {len(shown.encode())} bytes, to a template of that size"
    table.add_pair(name, pair, f"≥ 60 %, ≥ 1.2× of {BEFORE}")


def pages(path: str) -> Callable[[], Requests]:
    one = request("GET", path, host=HOST)
    return lambda: [[one] * PAGES] * CONNECTIONS


def leave_template(shown: str, folder: Path) -> None:
    """Make a template of a page: its words and one key come from outside."""
    template = shown
    for name, value in VALUES.items():
        assert escape(value) in template
        template = template.replace(escape(value), f"{{{{ {name} }}}}")
    key = shown.partition('name="session" value="')[2].partition('"')[0]
    (folder / TEMPLATE).write_text(template.replace(key, "{{ session }}"))
