"""The command line: `askback`."""

import errno
import gc
import logging
import os
import signal
import sqlite3
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from shutil import disk_usage

import click
import orjson
from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

from api.openapi.document import document
from jobs.deliver import sending
from jobs.transcribe import transcribing
from webapp.agent_cli import commands as agent_commands
from webapp.app import backup, cli_commands, factory
from webapp.app.background import background_work
from webapp.app.doctor import examine
from webapp.app.server import LOOK_SECONDS, STOP_SECONDS, Server
from webapp.base import config_environment, open_files
from webapp.base.config import Settings
from webapp.base.data_folder import FolderInUse, empty_spool, lock_folder, make_private
from webapp.base.database import schema, utc_now
from webapp.base.errors import Outcome
from webapp.oauth.registration import Refused
from webapp.pages.errors import load_pages
from webapp.pages.respondent import follow_ups
from webapp.records.accounts import invites, models
from webapp.records.audit import AuditKind
from webapp.web import logs, wakeups

log = logging.getLogger("askback.server")
EXIT_TEMPORARY = 75  # sysexits.h, EX_TEMPFAIL
DISK_FULL = "53100"  # SQLSTATE of PostgreSQL
# what SQLite reports instead of SQLITE_FULL when it cannot create or extend a journal or log
UNCLEAR = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN}
LITTLE_BYTES = 256 * 1024


def _is_full(error: BaseException | None, folder: Path) -> bool:
    """Return whether `error` or one of its causes means that the disk is full.

    folder  where the database is: its free space is checked when the error is ambiguous
    """
    while error is not None:
        driver = getattr(error, "orig", None) or error
        code = getattr(driver, "sqlite_errorcode", 0) & 0xFF
        if getattr(driver, "errno", None) in {errno.ENOSPC, errno.EDQUOT}:
            return True
        if code == sqlite3.SQLITE_FULL or getattr(driver, "sqlstate", None) == DISK_FULL:
            return True
        existing = next(each for each in (folder, *folder.parents) if each.exists())
        if code in UNCLEAR and disk_usage(existing).free < LITTLE_BYTES:
            return True
        error = error.__cause__ or error.__context__
    return False


class Askback(click.Group):
    """Ends commands after expected failures with a message and an exit code, without a trace."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (backup.BackupFailed, Refused) as error:
            raise click.ClickException(str(error)) from error
        except Exception as error:
            folder = config_environment.data_folder(os.environ)
            if _is_full(error, folder):
                click.echo(DISK_IS_FULL.format(folder), err=True)
                sys.exit(EXIT_TEMPORARY)
            if code := EXITS.get(type(error)):
                click.echo(error, err=True)
                sys.exit(code)
            if isinstance(error, Outcome):
                raise click.ClickException(f"{error.message} {error.resolution}") from error
            if isinstance(error, SQLAlchemyError):
                reason = str(getattr(error, "orig", None) or error).strip()
                raise click.ClickException(f"The database refused: {reason}") from error
            raise


EXITS: dict[type[Exception], int] = {
    config_environment.ConfigurationError: config_environment.EXIT_CONFIGURATION,
    FolderInUse: config_environment.EXIT_CONFIGURATION,
    schema.NewerSchema: config_environment.EXIT_CONFIGURATION,
    schema.TablesInUse: EXIT_TEMPORARY,
}
DISK_IS_FULL = "The disk is full, of the database or of {}. Make room on it, then start again."


@click.group(cls=Askback)
@click.version_option(package_name="askback")
def main() -> None:
    """Askback: agents ask, people answer."""


for command in (*cli_commands.COMMANDS, *agent_commands.main.commands.values()):
    main.add_command(command)


@main.command()
def run() -> None:
    """Start everything in one process on this machine."""
    settings = config_environment.read_settings(os.environ)
    with lock_folder(settings.data_folder, settings.public_url):
        if opened := make_private(settings.data_folder):
            click.echo(opened, err=True)
        app = factory.create_app(settings)
        server = _listen(app, settings)
        with app.app_context():
            schema.upgrade()
            _print_first_link(settings)
        logs.configure()
        with (
            sending(app, start_after=LATER_SECONDS, stop_seconds=STOP_SECONDS) as deliverer,
            transcribing(app, at_once=1, start_after=LATER_SECONDS) as transcriber,
        ):
            server.at_stop += [deliverer.refuse, transcriber.refuse]
            _serve(app, server, settings, tell=click.echo)


@main.command()
def web() -> None:
    """Start one web process of a production installation."""
    app, settings = _production_app()
    _serve(app, _listen(app, settings), settings, tell=log.info)


@main.command()
def worker() -> None:
    """Start one process that sends events to agents and has recordings written down."""
    app, _ = _production_app()
    stopped = threading.Event()
    with (
        background_work(app),
        sending(app, stop_seconds=WORKER_STOP_SECONDS),
        transcribing(app, at_once=TRANSCRIBED_AT_ONCE),
    ):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stopped.set())
        log.info("Askback delivers events")
        while not stopped.is_set():  # `wait` would hold the lock that `set` of a handler needs
            time.sleep(LOOK_SECONDS)
    log.info("Askback has stopped; what was not sent waits in the database.")


@main.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    with cli_commands.application():
        schema.require_known()
        before = schema.present()
        schema.upgrade(tell=partial(click.echo, err=True))
        if before not in {None, schema.newest()}:
            cli_commands.note(AuditKind.MIGRATED)
        click.echo(f"schema {before or 'none'} → {schema.newest()}")


@main.command("openapi")
def print_openapi() -> None:
    """Print the OpenAPI document of this installation."""
    with cli_commands.application() as settings:
        click.echo(orjson.dumps(document(settings), option=orjson.OPT_INDENT_2))


@main.command()
def doctor() -> None:
    """Examine this installation; the exit code is 1 when something should be changed."""
    with cli_commands.application() as settings:
        with suppress(SQLAlchemyError):  # the findings report it
            schema.require_served()
        findings = list(examine(settings))
    for finding in findings:
        click.echo(f"{'ok' if finding.fine else '!!'}  {finding.what}")
    sys.exit(0 if all(finding.fine for finding in findings) else 1)


def _production_app() -> tuple[Flask, Settings]:
    """Return the application of a production process, and its settings.

    Refuses to start on another version's schema; only warns if the database does not answer.
    """
    settings = config_environment.read_settings(os.environ, production=True)
    logs.configure()
    app = factory.create_app(settings)
    try:
        with app.app_context():
            schema.require_served()
            if refusal := schema.refusal():
                raise click.ClickException(f"Askback cannot start on this database: {refusal}")
    except SQLAlchemyError:
        log.warning("the database does not answer yet", exc_info=True)
    return app, settings


def _listen(app: Flask, settings: Settings) -> Server:
    try:
        return Server(app, settings)
    except OSError as error:
        address = f"{settings.host} port {settings.port}"
        reason = str(error.strerror).partition(" (while")[0]
        raise click.ClickException(
            f"Cannot listen on {address}: {reason}. Choose another one with PORT or HOST."
        ) from error


def _serve(app: Flask, server: Server, settings: Settings, tell: Callable[[str], None]) -> None:
    server.stop_on_signals()
    if (files := open_files.limit()) < open_files.RECOMMENDED:
        log.warning(FEW_FILES.format(files, open_files.RECOMMENDED))
    load_pages(app)
    follow_ups.load(app, settings)
    gc.freeze()  # it all stays: collecting garbage in it would stop all requests for 0.1 s
    empty_spool(settings.data_folder)
    with background_work(app), wakeups.shared_wakeups(app):
        server.run(ready=lambda: tell(f"Askback runs on {settings.public_url}"))
    app.extensions["deferred_writes"].settle(DEFERRED_SECONDS)
    tell("Askback has stopped; everything answered is saved.")


LATER_SECONDS = 1.0  # so that the imports of deliveries do not delay the first response
WORKER_STOP_SECONDS = 10.0  # for what is being sent
TRANSCRIBED_AT_ONCE = 4  # by one worker: a transcription service takes several at once
DEFERRED_SECONDS = 0.5  # for writes that wait at the stop
FEW_FILES = "only {} files may be open, so few people are served at once; allow at least {}"


def _print_first_link(settings: Settings) -> None:
    """Print a link to create the first account, while there is none."""
    if models.has_account():
        return
    url = cli_commands.invite_url(settings, invites.make_invite(now=utc_now()))
    click.echo(
        f"\nCreate your account within 24 hours, with this link that works once:\n\n  {url}\n"
    )
