"""The example installation behind a real server, once for each module."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from flask import Flask
from playwright.sync_api import Browser

from tests.browser.cafe import Cafe, open_cafe
from tests.serving import new_app, serving
from webapp.config import Settings
from webapp.database import db


@dataclass(frozen=True)
class Place:
    """A served café and the browser in front of it."""

    app: Flask
    cafe: Cafe
    browser: Browser
    address: str


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    folder: Path = tmp_path_factory.mktemp("cafe")
    app = new_app(
        Settings(
            public_url="http://127.0.0.1",
            database_url=f"sqlite:///{folder}/cafe.sqlite3",
            secret_key="only-for-tests-only-for-tests-only-for-tests",
            data_folder=folder,
            write_limits=False,
        )
    )
    with app.app_context():
        db.create_all()
        cafe = open_cafe()
    with serving(app):
        yield Place(app, cafe, browser, app.config["SETTINGS"].public_url)
    with app.app_context():
        db.engine.dispose()
