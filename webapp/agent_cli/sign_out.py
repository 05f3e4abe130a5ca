"""`askback sign-out`: the connection ends at the server, and nothing of it stays here."""

from webapp.agent_cli.connections import changing, end_at_server, load, remove
from webapp.agent_cli.exits import Exit, NotNow, Stopped, tell

MAY_GO_ON = "What was stored here is removed. The page Agents lists the connection if it goes on."


def sign_out(server: str) -> None:
    """Forget the server, also where it cannot be told; Stopped is raised then."""
    with changing(server):
        failure = _end(server)
        remove(server)
    if failure:
        raise failure
    tell(f"You are signed out of {server}")


def _end(server: str) -> Stopped | None:
    """End the connection, if there is one. Returns how the command ends where it may go on."""
    try:
        found = load(server)
        if found is None or not found.signed_in_at or end_at_server(found):
            return None
        code, why = Exit.NOT_SIGNED_IN, f"{server} has not ended the connection."
    except Stopped:
        code, why = Exit.NOT_SIGNED_IN, "What was stored here cannot be read."
    except NotNow as reason:
        code = Exit.NOT_SIGNED_IN if reason.reached else Exit.NOT_REACHED
        why = f"{reason}."
    return Stopped(code, f"{why} {MAY_GO_ON}")
