"""The command line: `askback`."""

import os
import secrets
from pathlib import Path

import click
import waitress

from webapp.app import create_app
from webapp.config import Settings


@click.group()
def main() -> None:
    """Askback: agents ask, people answer."""


@main.command()
def run() -> None:
    """Start everything in one process on this machine."""
    data = Path(os.environ.get("ASKBACK_DATA", "var")).resolve()
    data.mkdir(mode=0o700, exist_ok=True)
    port = int(os.environ.get("PORT", "8000"))
    settings = Settings(
        public_url=f"http://127.0.0.1:{port}",
        database_url=f"sqlite:///{data}/askback.sqlite3",
        secret_key=secrets.token_urlsafe(32),
        data_folder=data,
        port=port,
    )
    click.echo(f"Askback on {settings.public_url}")
    waitress.serve(create_app(settings), host=settings.host, port=settings.port)
