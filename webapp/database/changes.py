"""Tells the process which objects a committed transaction has changed, by their ids."""

from collections.abc import Callable

from flask import Flask, current_app, g

_TOLD = "told_of_changes"


def call_after_changes(app: Flask, told: Callable[[str], None]) -> None:
    """Call `told` with each id that was passed to `note_change`, after the commit.

    It runs in the thread of the request, and must neither block nor raise.
    """
    app.extensions.setdefault(_TOLD, []).append(told)


def note_change(object_id: str) -> None:
    """Tell of this object once the current transaction, or next statement, has committed.

    An id that is told although nothing of it was stored in the end does no harm.
    """
    g.setdefault("changed", set()).add(object_id)


def tell_changes() -> None:
    """After a commit: tell of all that was noted."""
    changed: set[str] = g.pop("changed", set())
    for told in current_app.extensions.get(_TOLD, ()):
        for object_id in changed:
            told(object_id)
