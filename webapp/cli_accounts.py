"""Commands about accounts and who acts for them: creators, clients, tokens, the audit trail."""

import sys
from collections.abc import Iterable
from datetime import UTC, datetime

import click
from sqlalchemy import select

from webapp import cli_listings
from webapp.account_deletion import delete_account, list_inventory
from webapp.cli_application import application
from webapp.config import Settings
from webapp.database import db, utc_now
from webapp.domain.accounts.disabled_accounts import disable_account, enable_account
from webapp.domain.accounts.invites import create_account, make_invite
from webapp.domain.accounts.models import Account, clean_email
from webapp.domain.audit.trail import OPERATOR, list_events
from webapp.domain.shared.vocabulary import Scope
from webapp.oauth.disabled_clients import disable_client, enable_client
from webapp.oauth.registration import create_client
from webapp.oauth.tokens import issue_token


def moment(text: str) -> datetime:
    """A day or a moment of ISO 8601, in UTC unless it says otherwise."""
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
        account = create_account(email, name, password, now=utc_now(), by=OPERATOR)
        click.echo(f"{account.email} can sign in now.")


@creator.command("link")
@click.option("--email", default=None, help="Fix the address; of an account: set a new password.")
def creator_link(email: str | None) -> None:
    """Print a one-time link, valid for 24 hours, that creates an account."""
    with application() as settings:
        invite = make_invite(email=email, now=utc_now(), by=OPERATOR)
        click.echo(invite_url(settings, invite))


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
        lost = list_inventory(account_id, now=utc_now())
        what = f"{lost.forms} forms, {lost.responses} responses and {lost.drafts} drafts"
        if not yes:
            click.confirm(f"Delete {email} with {what} for good?", abort=True)
        delete_account(account_id, now=utc_now(), by=OPERATOR)
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
        client_id, secret = create_client(
            name, list(redirect_uris), public=public, now=utc_now(), by=OPERATOR
        )
        click.echo(f"client_id={client_id}")
        if secret is not None:
            click.echo(f"client_secret={secret}")


@client.command("list")
def client_list() -> None:
    """Print every OAuth client: id, name, kind, created, state, accounts connected."""
    with application():
        for line in cli_listings.client_lines(now=utc_now()):
            click.echo(line)


@client.command("disable")
@click.argument("client_id")
def client_disable(client_id: str) -> None:
    """End all connections of an OAuth client, and let it ask for no more."""
    with application():
        accounts = disable_client(client_id, now=utc_now(), by=OPERATOR)
        click.echo(f"{client_id} is switched off; it was connected to {accounts} account(s).")


@client.command("enable")
@click.argument("client_id")
def client_enable(client_id: str) -> None:
    """Undo `disable`: creators may connect it anew, what has ended stays so."""
    with application():
        enable_client(client_id, now=utc_now(), by=OPERATOR)
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
    scopes = _scopes(scope.split())
    with application() as settings:
        audience = {"api": settings.api_url, "mcp": settings.mcp_url}[resource]
        account_id = _account_id(email)
        click.echo(issue_token(account_id, scopes, audience, now=utc_now(), by=OPERATOR))


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
            click.echo(
                cli_listings.event_json(event) if as_json else cli_listings.event_line(event)
            )


def invite_url(settings: Settings, invite: str) -> str:
    """Where a one-time link leads."""
    return f"{settings.public_url}/join/{invite}"


def _account_id(email: str) -> str:
    found = db.session.scalar(select(Account.id).where(Account.email == clean_email(email)))
    if found is None:
        raise click.ClickException(f"{email} has no account. Make one with: askback creator create")
    return found


def _scopes(names: Iterable[str]) -> list[Scope]:
    unknown = [name for name in names if name not in set(Scope)]
    if unknown or not names:
        known = ", ".join(Scope)
        raise click.BadParameter(f"{', '.join(unknown) or 'nothing'} given; known are {known}")
    return [Scope(name) for name in names]
