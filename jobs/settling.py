"""Storing what came of an attempt, also where the database does not answer for a while."""

import time
from collections.abc import Callable

from flask import Flask
from sqlalchemy.exc import SQLAlchemyError

TRIES = 5  # of a database that does not answer, while the lease lasts
PAUSE_SECONDS = 1.0


def store(app: Flask, change: Callable[[], object]) -> None:
    """Make the change in a context of its own, tried again; the last failure is raised."""
    for left in reversed(range(TRIES)):
        try:
            with app.app_context():
                change()
            return
        except SQLAlchemyError:
            if not left:
                raise
        time.sleep(PAUSE_SECONDS)
