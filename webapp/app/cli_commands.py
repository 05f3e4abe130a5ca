"""Commands for accounts, clients, the audit trail, backups and keys."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import click
import orjson
from sqlalchemy import func, select
from sqlalchemy.exc import SQLAlchemyError

from api.wire.types import wire_time
from webapp.app import backup, factory
from webapp.base.config import Settings
from webapp.base.config_environment import read_settings
from webapp.base.data_folder import lock_folder, served_address
from webapp.base.database import db, schema, to_millis, utc_now, write_transaction
from webapp.base.sealing import sealer
from webapp.base.text import JOINERS
from webapp.base.vocabulary import Scope
from webapp.events.subscriptions import rekey as seal_anew
from webapp.oauth import account_deletion, connections, registration, tokens
from webapp.oauth.models import OAuthClient, OAuthGrant
from webapp.records.accounts import invites, models
from webapp.records.accounts.browser_sessions import SignIn
from webapp.records.accounts.models import Account
from webapp.records.audit import OPERATOR, AuditKind, add_event, list_events
from webapp.records.forms import Form
from webapp.voice.audio_store import audio_store

ADDRESS_VARIABLES = ("PUBLIC_URL", "HOST", "PORT")


@contextmanager
def application() -> Iterator[Settings]:
    """Yield the settings, in the application context of a command alongside servers."""
    settings = settings_of_the_server()
    app = factory.create_app(settings)
    with app.app_context():
        try:
            yield settings
        finally:
            db.session.remove()
            db.engine.dispose()


def settings_of_the_server() -> Settings:
    """Return the settings, with the server's public address unless the environment sets one."""
    settings = read_settings(os.environ)
    served = served_address(settings.data_folder)
    if served and not any(os.environ.get(name) for name in ADDRESS_VARIABLES):
        return settings.model_copy(update={"public_url": served})
    return settings


def note(kind: AuditKind) -> None:
    """Note an act of the operator in the audit trail; report if the database takes no writes."""
    try:
        with write_transaction():
            add_event(kind, None, by=OPERATOR, now=utc_now())
    except SQLAlchemyError:
        click.echo("This was not noted in the audit trail: the database takes no writes.", err=True)


def _moment(at: datetime) -> str:
    return wire_time(to_millis(at))


def _state(of: Account | OAuthClient) -> str:
    return "disabled" if of.disabled_at else "active"


def _print_row(*parts: object) -> None:
    """Print one line of parts separated by tabs."""
    click.echo("\t".join(map(_visible, parts)))


def _visible(part: object) -> str:
    return "".join(char if char.isprintable() or char in JOINERS else "?" for char in str(part))


def moment(text: str) -> datetime:
    """Parse a day or a moment of ISO 8601, by default in UTC."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise click.BadParameter(f'"{text}" is neither a day nor a moment') from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@click.group()
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
        account = invites.create_account(email, name, password, now=utc_now(), by=OPERATOR)
        click.echo(f"{account.email} can sign in now.")


@creator.command("link")
@click.option("--email", default=None, help="Fix the address; of an account: set a new password.")
def creator_link(email: str | None) -> None:
    """Print a one-time link, valid for 24 hours, that creates an account."""
    with application() as settings:
        invite = invites.make_invite(email=email, now=utc_now(), by=OPERATOR)
        click.echo(invite_url(settings, invite))


@creator.command("list")
def creator_list() -> None:
    """Print every account: e-mail, name, created, last active, state, forms."""
    of_account = (
        select(func.max(SignIn.last_active_at)).where(SignIn.account_id == Account.id),
        select(func.max(OAuthGrant.last_used_at)).where(OAuthGrant.account_id == Account.id),
        select(func.count(Form.id)).where(Form.account_id == Account.id, Form.deleted_at.is_(None)),
    )
    query = (
        select(Account, *(part.scalar_subquery() for part in of_account))
        .where(Account.deleted_at.is_(None))
        .order_by(Account.created_at, Account.id)
    )
    with application():
        for account, in_browser, by_agent, forms in db.session.execute(query):
            active = max((_moment(at) for at in (in_browser, by_agent) if at), default="never")
            created, count = _moment(account.created_at), f"{forms} form{'s' * (forms != 1)}"
            _print_row(account.email, account.name, created, active, _state(account), count)


@creator.command("disable")
@click.option("--email", required=True)
def creator_disable(email: str) -> None:
    """Sign somebody out and let neither them nor their agents in; forms stay open."""
    with application():
        models.disable_account(_account_id(email), now=utc_now(), by=OPERATOR)
        click.echo(f"{email} is switched off. Forms stay open to people who have their links.")


@creator.command("enable")
@click.option("--email", required=True)
def creator_enable(email: str) -> None:
    """Undo `disable`: they sign in anew, their agents go on as before."""
    with application():
        models.enable_account(_account_id(email), now=utc_now(), by=OPERATOR)
        click.echo(f"{email} can sign in.")


@creator.command("delete")
@click.option("--email", required=True)
@click.option("--yes", is_flag=True, help="Do not ask.")
def creator_delete(email: str, *, yes: bool) -> None:
    """Delete an account with everything in it, as its creator could; nothing brings it back."""
    with application():
        account_id = _account_id(email)
        lost = account_deletion.list_inventory(account_id, now=utc_now())
        what = "{forms} forms, {responses} responses and {drafts} drafts".format_map(lost)
        if not yes:
            click.confirm(f"Delete {email} with {what} for good?", abort=True)
        account_deletion.delete_account(account_id, now=utc_now(), by=OPERATOR)
        click.echo(f"{email} is deleted. What was stored is erased within the hour by a server.")


@click.group()
def client() -> None:
    """OAuth clients: agents that the operator registers by hand, and all others."""


@client.command("create")
@click.option("--name", required=True, help="What the creator reads on the consent page.")
@click.option("--redirect-uri", "redirect_uris", required=True, multiple=True)
@click.option("--public", is_flag=True, help="Without a secret: for apps on people's computers.")
def client_create(name: str, redirect_uris: tuple[str, ...], *, public: bool) -> None:
    """Register an OAuth client and print its id and secret; the secret is shown this once."""
    with application():
        client_id, secret = registration.create_client(
            name, list(redirect_uris), public=public, now=utc_now(), by=OPERATOR
        )
        click.echo(f"client_id={client_id}")
        if secret is not None:
            click.echo(f"client_secret={secret}")


@client.command("list")
def client_list() -> None:
    """Print every OAuth client: id, name, kind, created, state, accounts connected."""
    accounts = (
        select(func.count(OAuthGrant.account_id.distinct()))
        .where(OAuthGrant.client_pk == OAuthClient.id, tokens.is_live(utc_now()))
        .correlate(OAuthClient)
    )
    query = select(OAuthClient, accounts.scalar_subquery()).order_by(
        OAuthClient.created_at, OAuthClient.id
    )
    with application():
        for each, connected in db.session.execute(query):
            created, state = _moment(each.created_at), _state(each)
            count = f"{connected} account{'s' * (connected != 1)}"
            _print_row(each.client_id, each.name, each.kind, created, state, count)


@client.command("disable")
@click.argument("client_id")
def client_disable(client_id: str) -> None:
    """End all connections of an OAuth client, and let it ask for no more."""
    with application():
        accounts = connections.disable_client(client_id, now=utc_now(), by=OPERATOR)
        click.echo(f"{client_id} is switched off; it was connected to {accounts} account(s).")


@client.command("enable")
@click.argument("client_id")
def client_enable(client_id: str) -> None:
    """Undo `disable`: creators may connect it anew, what has ended stays so."""
    with application():
        connections.enable_client(client_id, now=utc_now(), by=OPERATOR)
        click.echo(f"{client_id} may ask creators for consent.")


@click.group()
def token() -> None:
    """Access tokens without a browser, for scripts of the operator."""


@token.command("issue")
@click.option("--email", required=True, help="The account to act for.")
@click.option("--scope", required=True, help="Scopes separated by spaces.")
@click.option("--resource", type=click.Choice(["api", "mcp"]), default="api", show_default=True)
def token_issue(email: str, scope: str, resource: str) -> None:
    """Print an access token, and nothing else, on standard output."""
    names = scope.split()
    unknown = [name for name in names if name not in set(Scope)]
    if unknown or not names:
        given, known = ", ".join(unknown) or "nothing", ", ".join(Scope)
        raise click.BadParameter(f"{given} given; known are {known}")
    with application() as settings:
        audience = {"api": settings.api_url, "mcp": settings.mcp_url}[resource]
        scopes = [Scope(name) for name in names]
        click.echo(
            tokens.issue_token(_account_id(email), scopes, audience, now=utc_now(), by=OPERATOR)
        )


@click.command()
@click.option("--email", default=None, help="Of this account only.")
@click.option("--since", type=moment, default=None, help="As 2026-05-01 or 2026-05-01T09:30Z.")
@click.option("--limit", type=click.IntRange(1), default=100, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def audit(email: str | None, since: datetime | None, limit: int, *, as_json: bool) -> None:
    """Print the audit trail, newest first: who did what, from where, and how it ended."""
    with application():
        account_id = None if email is None else _account_id(email)
        for event in list_events(account_id, limit=limit, since=since):
            parts = {
                "at": _moment(event.at),
                "event": event.kind,
                "outcome": event.outcome,
                "actor": event.actor,
                "account": event.account_id,
                "address": event.address,
                "client": event.client_id,
                "clientName": event.client_name,
                "subject": event.subject,
                "count": event.count,
            }
            if as_json:
                click.echo(orjson.dumps(parts))
                continue
            parts["count"] = f"× {event.count}" if event.count > 1 else None
            _print_row(*filter(None, parts.values()))


def invite_url(settings: Settings, invite: str) -> str:
    """Return the URL of a one-time link."""
    return f"{settings.public_url}/join/{invite}"


def _account_id(email: str) -> str:
    found = db.session.scalar(select(Account.id).where(Account.email == models.clean_email(email)))
    if found is None:
        raise click.ClickException(f"{email} has no account. Make one with: askback creator create")
    return found


@click.command("backup")
@click.argument("file", type=click.Path(path_type=Path))
def backup_to(file: Path) -> None:
    """Write everything that is stored to a new FILE; servers may run meanwhile."""
    with application():
        notes = backup.back_up(db.engine.url, file, audio_store())
        note(AuditKind.BACKED_UP)
    for line in (f"{file}: {file.stat().st_size} bytes", *notes):
        click.echo(line)


@click.command("restore")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
def restore_from(file: Path, *, yes: bool) -> None:
    """Replace everything that is stored by what FILE holds; no server may run."""
    settings = settings_of_the_server()
    if not yes:
        click.confirm(f"Replace the database of {settings.public_url}?", abort=True)
    with lock_folder(settings.data_folder, settings.public_url), application():
        with suppress(SQLAlchemyError):  # a database that is beyond reading
            schema.require_known()
        db.engine.dispose()
        click.echo(backup.restore(db.engine.url, file, settings.data_folder, audio_store()))
        note(AuditKind.BACKUP_RESTORED)


@click.command()
def rekey() -> None:
    """Encrypt all secrets of callbacks with the first of DATA_KEYS; servers may run meanwhile."""
    with application():
        read, sealed, unopened = seal_anew(sealer())
        if sealed:
            note(AuditKind.REKEYED)
        click.echo(f"{read} secrets; {sealed} encrypted anew with the first key")
        if unopened:
            click.echo(UNOPENED.format(unopened), err=True)


UNOPENED = "{} that none of DATA_KEYS opens: nothing is sent there until its agent subscribes again"
COMMANDS = (creator, client, token, audit, backup_to, restore_from, rekey)
