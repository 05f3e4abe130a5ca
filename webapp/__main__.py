"""Where a process of Askback begins: `askback`, or `python -m webapp`."""

import os
import sys

# they need neither the application nor its database, and start without importing them
OF_AGENTS = frozenset({"ask", "connect", "sign-in", "sign-out", "wait"})
SERVERS = frozenset({"run", "web"})


def main() -> None:
    """The command line."""
    os.umask(0o077)  # what is stored is for this account alone
    if sys.argv[1:2] and sys.argv[1] in OF_AGENTS:
        from webapp.agent_cli.commands import main as command
    else:
        from webapp.app.cli import main as command

    try:
        command()
    except SystemExit as ended:
        if sys.argv[1:2] and sys.argv[1] in SERVERS and isinstance(ended.code, int | None):
            # threads of the server may still run, which must not meet an interpreter that ends
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended.code or 0)
        raise


if __name__ == "__main__":
    main()
