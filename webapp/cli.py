"""The command line: `askback`."""

import logging
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson
from flask import Flask
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from api.openapi.document import document
from webapp import cli_listings, open_files
from webapp.account_deletion import delete_account, list_belongings
from webapp.app import create_app
from webapp.config import EXIT_CONFIGURATION, ConfigurationError, Settings, data_folder
from webapp.data_folder import FolderInUse, lock_folder, make_private, served_address
from webapp.database import begin_write, db, schema, utc_now
from webapp.domain.accounts.disabled_accounts import disable_account, enable_account
from webapp.domain.accounts.invites import create_account, make_invite
from webapp.domain.accounts.models import Account, clean_email, has_account
from webapp.domain.accounts.passwords import stop_hashing
from webapp.domain.audit.trail import OPERATOR, AuditKind, add_event, list_events
from webapp.domain.shared.errors import Outcome
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.registration import Refused, create_client
from webapp.oauth.tokens import issue_token
from webapp.pages.errors import load_pages
from webapp.runtime.background import keeping_house
from webapp.runtime.backup import back_up, restore
from webapp.runtime.backup_contents import BackupFailed
from webapp.runtime.disk_full import EXIT_TEMPORARY, is_full
from webapp.runtime.doctor import examine
from webapp.runtime.server import Server
from webapp.web import logs

ADDRESS_VARIABLES = ("PUBLIC_URL", "HOST", "PORT")

log = logging.getLogger("askback.server")


class Askback(click.Group):
    """Expected failures end a command with their words and an exit code, never with a trace."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return self._invoke(ctx)
        except Exception as error:
            folder = data_folder(os.environ)
            if isinstance(error.__cause__, BackupFailed) or not is_full(error, folder):
                raise
            click.echo(DISK_IS_FULL.format(folder), err=True)
            sys.exit(EXIT_TEMPORARY)

    def _invoke(self, ctx: click.Context) -> object:
        try:
            return super().invoke(ctx)
        except (ConfigurationError, FolderInUse, schema.NewerSchema) as error:
            if is_full(error, data_folder(os.environ)):
                raise
            click.echo(error, err=True)
            sys.exit(EXIT_CONFIGURATION)
        except (BackupFailed, Refused) as error:
            raise click.ClickException(str(error)) from error
        except Outcome as error:
            raise click.ClickException(f"{error.message} {error.resolution}") from error
        except SQLAlchemyError as error:
            reason = str(getattr(error, "orig", None) or error).strip()
            raise click.ClickException(f"The database refused: {reason}") from error


DISK_IS_FULL = "The disk is full, of the database or of {}. Make room on it, then start again."


def moment(text: str) -> datetime:
    """A day or a moment of ISO 8601, in UTC unless it says otherwise."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f'"{text}" is neither a day nor a moment') from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@click.group(cls=Askback)
@click.version_option(package_name="askback")
def main() -> None:
    """Askback: agents ask, people answer."""


@main.command()
def run() -> None:
    """Start everything in one process on this machine."""
    settings = Settings.from_env(os.environ)
    with lock_folder(settings.data_folder, settings.public_url):
        for line in make_private(settings.data_folder):
            click.echo(line, err=True)
        app = create_app(settings)
        server = _listen(app, settings)
        with app.app_context():
            schema.upgrade()
            _print_first_link(settings)
        logs.configure()
        _serve(app, server, settings, tell=click.echo)


@main.command()
def web() -> None:
    """Start one web process of a production installation."""
    settings = Settings.from_env(os.environ, production=True)
    logs.configure()
    app = create_app(settings)
    with app.app_context():
        _require_schema()
    _serve(app, _listen(app, settings), settings, tell=log.info)


@main.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    with application():
        schema.require_known()
        before = schema.present()
        schema.upgrade()
        if before not in {None, schema.newest()}:
            _note(AuditKind.MIGRATED)
        click.echo(f"schema {before or 'none'} → {schema.newest()}")


@main.group()
def creator() -> None:
    """People who own drafts and forms."""


@creator.command("create")
@click.option("--email", required=True)
@click.option("--name", default="", help="As respondents may see it; else the mailbox name.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
def creator_create(email: str, name: str, *, password_stdin: bool) -> None:
    """Create an account with a password."""
    password = (
        sys.stdin.readline().rstrip("\r\n")
        if password_stdin
        else click.prompt("Password", hide_input=True, confirmation_prompt=True)
    )
    with application():
        account = create_account(email, name, password, now=utc_now(), by=OPERATOR)
        click.echo(f"{account.email} can sign in now.")


@creator.command("link")
@click.option("--email", default=None, help="Fix the address; of an account: set a new password.")
def creator_link(email: str | None) -> None:
    """Print a one-time link, valid for 24 hours, that creates an account."""
    with application() as settings:
        invite = make_invite(email=email, now=utc_now(), by=OPERATOR)
        click.echo(_invite_url(settings, invite))


@creator.command("list")
def creator_list() -> None:
    """Print every account: e-mail, name, created, last active, state, forms."""
    with application():
        for line in cli_listings.creator_lines():
            click.echo(line)


@creator.command("disable")
@click.option("--email", required=True)
def creator_disable(email: str) -> None:
    """Sign somebody out and let neither them nor their agents in; forms stay open."""
    with application():
        disable_account(_account_id(email), now=utc_now(), by=OPERATOR)
        click.echo(f"{email} is switched off. Forms stay open to people who have their links.")


@creator.command("enable")
@click.option("--email", required=True)
def creator_enable(email: str) -> None:
    """Undo `disable`: they sign in anew, their agents go on as before."""
    with application():
        enable_account(_account_id(email), now=utc_now(), by=OPERATOR)
        click.echo(f"{email} can sign in.")


@creator.command("delete")
@click.option("--email", required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def creator_delete(email: str, *, yes: bool) -> None:
    """Delete an account with everything in it, as its creator could; nothing brings it back."""
    with application():
        account_id = _account_id(email)
        lost = list_belongings(account_id, now=utc_now())
        what = f"{lost.forms} forms, {lost.responses} responses and {lost.drafts} drafts"
        if not yes:
            click.confirm(f"Delete {email} with {what} for good?", abort=True)
        delete_account(account_id, now=utc_now(), by=OPERATOR)
        click.echo(f"{email} is deleted. What was stored is erased within the hour by a server.")


@main.group()
def client() -> None:
    """Agents that the operator registers by hand."""


@client.command("create")
@click.option("--name", required=True, help="What the creator reads on the consent page.")
@click.option("--redirect-uri", "redirect_uris", required=True, multiple=True)
@click.option("--public", is_flag=True, help="Without a secret: for apps on people's computers.")
def client_create(name: str, redirect_uris: tuple[str, ...], *, public: bool) -> None:
    """Register an OAuth client and print its id and secret; the secret is shown this once."""
    with application():
        client_id, secret = create_client(
            name, list(redirect_uris), public=public, now=utc_now(), by=OPERATOR
        )
        click.echo(f"client_id={client_id}")
        if secret is not None:
            click.echo(f"client_secret={secret}")


@main.group()
def token() -> None:
    """Access tokens without a browser, for scripts of the operator."""


@token.command("issue")
@click.option("--email", required=True, help="The account to act for.")
@click.option("--scope", required=True, help="Scopes separated by spaces.")
@click.option("--resource", type=click.Choice(["api", "mcp"]), default="api", show_default=True)
def token_issue(email: str, scope: str, resource: str) -> None:
    """Print an access token, and nothing else, on standard output."""
    scopes = _scopes(scope.split())
    with application() as settings:
        audience = {"api": settings.api_url, "mcp": settings.mcp_url}[resource]
        account_id = _account_id(email)
        click.echo(issue_token(account_id, scopes, audience, now=utc_now(), by=OPERATOR))


@main.command("openapi")
def print_openapi() -> None:
    """Print the OpenAPI document of this installation."""
    with application() as settings:
        click.echo(orjson.dumps(document(settings), option=orjson.OPT_INDENT_2))


@main.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
def backup_to(file: Path) -> None:
    """Write everything that is stored to a new FILE; servers may run meanwhile."""
    with application():
        back_up(db.engine.url, file)
        _note(AuditKind.BACKED_UP)
    click.echo(f"{file}: {file.stat().st_size} bytes")


@main.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_from(file: Path, *, yes: bool) -> None:
    """Replace everything that is stored by what FILE holds; no server may run."""
    settings = _settings_of_the_server()
    if not yes:
        click.confirm(f"Replace the database of {settings.public_url}?", abort=True)
    with lock_folder(settings.data_folder, settings.public_url), application():
        with suppress(SQLAlchemyError):  # a database that is beyond reading
            schema.require_known()
        db.engine.dispose()
        click.echo(restore(db.engine.url, file, settings.data_folder))
        _note(AuditKind.BACKUP_RESTORED)


@main.command()
@click.option("--email", default=None, help="Of this account only.")
@click.option("--since", type=moment, default=None, help="As 2026-05-01 or 2026-05-01T09:30Z.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def audit(email: str | None, since: datetime | None, limit: int, *, as_json: bool) -> None:
    """Print the audit trail, newest first: who did what, from where, and how it ended."""
    with application():
        account_id = None if email is None else _account_id(email)
        for event in list_events(account_id, limit=limit, since=since):
            click.echo(
                cli_listings.event_json(event) if as_json else cli_listings.event_line(event)
            )


@main.command()
def doctor() -> None:
    """Examine this installation; the exit code is 1 when something should be changed."""
    with application() as settings:
        with suppress(SQLAlchemyError):  # which the examination tells
            schema.require_served()
        findings = list(examine(settings))
    for finding in findings:
        click.echo(f"{'ok' if finding.fine else '!!'}  {finding.what}")
    sys.exit(0 if all(finding.fine for finding in findings) else 1)


@contextmanager
def application() -> Iterator[Settings]:
    """The application context of a command that works beside running servers."""
    settings = _settings_of_the_server()
    with create_app(settings).app_context(), logs.audit_lines(sys.stderr):
        try:
            yield settings
        finally:
            db.session.remove()
            db.engine.dispose()


def _settings_of_the_server() -> Settings:
    """Links and tokens carry the public address: the server's, unless the environment has one."""
    settings = Settings.from_env(os.environ)
    served = served_address(settings.data_folder)
    if served and not any(os.environ.get(name) for name in ADDRESS_VARIABLES):
        return replace(settings, public_url=served)
    return settings


def _require_schema() -> None:
    """A database that does not answer is waited for; one of another version never gets right."""
    try:
        schema.require_served()
        refusal = schema.refusal()
    except SQLAlchemyError:
        log.warning("the database does not answer yet", exc_info=True)
        return
    if refusal:
        raise click.ClickException(f"Askback cannot start on this database: {refusal}")


def _listen(app: Flask, settings: Settings) -> Server:
    try:
        return Server(app, settings)
    except OSError as error:
        place = f"{settings.host} port {settings.port}"
        raise click.ClickException(
            f"Cannot listen on {place}: {error.strerror}. Choose another one with PORT or HOST."
        ) from error


def _serve(app: Flask, server: Server, settings: Settings, tell: Callable[[str], None]) -> None:
    server.stop_on_signals()
    if (files := open_files.allowed()) < open_files.ENOUGH:
        log.warning(FEW_FILES.format(files, open_files.ENOUGH))
    load_pages(app)
    tell(f"Askback runs on {settings.public_url}")
    with keeping_house(app):
        server.run()
    app.extensions["notes"].settle(NOTES_SECONDS)
    stop_hashing()
    tell("Askback has stopped; everything answered is saved.")


NOTES_SECONDS = 0.5  # for notes that wait at the stop
FEW_FILES = "only {} files may be open, so few people are served at once; allow at least {}"


def _print_first_link(settings: Settings) -> None:
    """While nobody has an account: a way in, for whoever reads this terminal."""
    if has_account():
        return
    url = _invite_url(settings, make_invite(now=utc_now()))
    click.echo(
        f"\nCreate your account within 24 hours, with this link that works once:\n\n  {url}\n"
    )


def _invite_url(settings: Settings, invite: str) -> str:
    return f"{settings.public_url}/join/{invite}"


def _account_id(email: str) -> str:
    found = db.session.scalar(select(Account.id).where(Account.email == clean_email(email)))
    if found is None:
        raise click.ClickException(f"{email} has no account. Make one with: askback creator create")
    return found


def _note(kind: AuditKind) -> None:
    """What the operator has done with everything; a database that takes no writes is told."""
    try:
        begin_write()
        add_event(kind, None, by=OPERATOR, now=utc_now())
        db.session.commit()
    except SQLAlchemyError:
        db.session.rollback()
        click.echo("This was not noted in the audit trail: the database takes no writes.", err=True)


def _scopes(names: Iterable[str]) -> list[Scope]:
    unknown = [name for name in names if name not in set(Scope)]
    if unknown or not names:
        known = ", ".join(Scope)
        raise click.BadParameter(f"{', '.join(unknown) or 'nothing'} given; known are {known}")
    return [Scope(name) for name in names]
