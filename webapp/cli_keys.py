"""The command that seals secrets with a new key."""

import click

from webapp.cli_application import application, note
from webapp.data_keys import sealer
from webapp.domain.audit.trail import AuditKind
from webapp.domain.events.subscriptions.rekeying import rekey as seal_anew


@click.command()
def rekey() -> None:
    """Encrypt all secrets of callbacks with the first of DATA_KEYS; servers may run meanwhile."""
    with application():
        done = seal_anew(sealer())
        if done.sealed:
            note(AuditKind.REKEYED)
        click.echo(f"{done.read} secrets; {done.sealed} encrypted anew with the first key")
        if done.unopened:
            click.echo(UNOPENED.format(done.unopened), err=True)


UNOPENED = "{} that none of DATA_KEYS opens: nothing is sent there until its agent subscribes again"
