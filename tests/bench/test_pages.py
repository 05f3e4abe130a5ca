"""The page that everybody who gets a link opens, against a bare route that renders one like it.

That route looks the form up, as a page has to that is to be closed at once when its form is.
"""

import http.client
from collections.abc import Callable
from contextlib import closing
from html import escape
from pathlib import Path

import pytest
from flask import Flask

from tests.bench.ceiling import TEMPLATE, VALUES
from tests.bench.figures import BEFORE, Requests, Side, Table, compare, machine
from tests.bench.load import request
from tests.bench.servers import running
from tests.bench.work import CONNECTIONS, connected, new_form
from tests.databases import both_databases
from webapp.base.config import Settings

pytestmark = [pytest.mark.bench, both_databases]

HOST = "127.0.0.1:8000"  # of the public address
PAGES = 60  # of one connection in one round


def test_share_page(app: Flask, settings: Settings) -> None:
    link = f"/r/{new_form(connected(app, settings.api_url)).share_token}"
    on_sqlite = settings.database_url.startswith("sqlite")
    with app.app_context():
        print(f"\n{machine(settings.data_folder)}")

    with running("askback", 1, settings) as askback:
        size = leave_template(page(askback[0], link), settings.data_folder)
        with running("ceiling", 1, settings) as ceiling:
            bare = Side(ceiling, pages(f"/template{link.removeprefix('/r')}"))
            pair = compare(bare, Side(askback, pages(link)))

    table = Table("SQLite" if on_sqlite else "PostgreSQL")
    name = f"share page, {size} bytes, to a template of that size"
    table.add_pair(name, pair, f"≥ 60 %, ≥ 1.2× of {BEFORE}")


def pages(path: str) -> Callable[[], Requests]:
    one = request("GET", path, host=HOST)
    return lambda: [[one] * PAGES] * CONNECTIONS


def page(port: int, path: str) -> str:
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as connection:
        connection.request("GET", path, headers={"Host": HOST})
        return connection.getresponse().read().decode()


def leave_template(shown: str, folder: Path) -> int:
    """Make a template of a page: its words and one key come from outside; returns its bytes."""
    template = shown
    for name, value in VALUES.items():
        assert escape(value) in template
        template = template.replace(escape(value), f"{{{{ {name} }}}}")
    key = shown.partition('name="session" value="')[2].partition('"')[0]
    (folder / TEMPLATE).write_text(template.replace(key, "{{ session }}"))
    return len(shown.encode())
