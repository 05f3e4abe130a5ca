"""Connections to PostgreSQL with bounded waits, which verify the outcome of a lost commit."""

import logging
import select
import time
from functools import partial
from typing import Any

import psycopg
from flask import g, has_app_context, has_request_context
from psycopg import errors, pq
from sqlalchemy import Dialect, Engine, event
from sqlalchemy.exc import DisconnectionError, InvalidatePoolError

from webapp.base.database.failures import NO_ANSWER, note_unknown

IDLE_SECONDS = 1.0  # after which the server may have closed a pooled connection
LOCK_SECONDS = 4  # how long a statement waits for the locks of others
ANSWER_SECONDS = 4.5  # how long a request waits for one statement; more than for a lock
PING_SECONDS = 1.0
CONNECT_SECONDS = 2  # the minimum of libpq
AWAY_SECONDS = 1.0  # between a connect that timed out and the next one
CONNECT_ARGS = {
    "connect_timeout": CONNECT_SECONDS,
    "tcp_user_timeout": 5000,  # ms, for data that is sent and never acknowledged
    "keepalives_idle": 30,
    "options": f"-c lock_timeout={LOCK_SECONDS}s",
}
# functions that every maintained version has
_NUMBER = "SELECT txid_current_if_assigned()"
_BECAME = "SELECT txid_status(%s)"
# of a connection whose ROLLBACK was cancelled
UNFINISHED = {
    pq.TransactionStatus.ACTIVE,
    pq.TransactionStatus.INTRANS,
    pq.TransactionStatus.INERROR,
}
SETTLE_SECONDS = 1.0  # a server that ends a connection finishes its commit first

log = logging.getLogger("askback.database")


class NoAnswer(psycopg.OperationalError):
    """The server did not respond in time; the connection was closed."""

    sqlstate = NO_ANSWER


class Connection(psycopg.Connection[Any]):
    """Bounds waits for the server, and checks the outcome of a commit without a response.

    `patience` bounds each wait in seconds. If it is None, `g.patience` does; without that, requests
    wait for ANSWER_SECONDS, and other code without a bound.
    """

    patience: float | None = None
    reached_by: tuple[Any, Any] = ((), {})  # the arguments of `connect`

    def wait(self, gen: Any, interval: float = 0.1, timeout: float | None = None) -> Any:
        """Wait as psycopg does; on a time-out, close the connection and raise NoAnswer."""
        bound = timeout if timeout is not None else self.patience or _patience()
        try:
            return super().wait(gen, interval, bound)
        except errors._WaitTimeout as error:
            if timeout is not None:
                raise
            self.pgconn.finish()
            raise NoAnswer(f"the server said nothing for {bound} s") from error

    def commit(self) -> None:
        """Commit; succeed also if the connection is lost but the commit was carried out.

        A new connection checks that. Raises psycopg.Error if nothing was stored, or if that is
        unknown.
        """
        number = self._number()
        if number is None:
            super().commit()
            return
        try:
            super().commit()
        except psycopg.Error as error:
            if not self.closed:
                raise
            if isinstance(error, NoAnswer) or (became := self._became(number)) is None:
                note_unknown()
                raise
            if became != "committed":
                raise

    def _number(self) -> int | None:
        """Return the id of the transaction; None if it has written nothing."""
        if self.info.transaction_status != pq.TransactionStatus.INTRANS:
            return None
        found = self.execute(_NUMBER, prepare=True).fetchone()
        return found[0] if found else None

    def _became(self, number: int) -> str | None:
        """Return `committed` or `aborted`, read on a new connection; None if unknown."""
        args, parameters = self.reached_by
        until = time.monotonic() + SETTLE_SECONDS
        try:
            with Connection.connect(*args, **parameters, autocommit=True) as asking:
                asking.patience = SETTLE_SECONDS
                while True:
                    found = asking.execute(_BECAME, [number]).fetchone()
                    became: str | None = found[0] if found else None
                    if became != "in progress" or time.monotonic() > until:
                        break
                    time.sleep(0.05)
        except psycopg.Error:
            log.warning("what became of a commit is not known", exc_info=True)
            return None
        log.warning("a connection was lost at its commit", extra={"became": became})
        return None if became == "in progress" else became


class Breaker:
    """Refuses to connect for a short time after a connect timed out."""

    _away_until = 0.0

    def connect(self, _dialect: Dialect, _record: Any, args: Any, parameters: Any) -> Connection:
        """Return a new connection. raises psycopg.OperationalError"""
        if time.monotonic() < self._away_until:
            raise NoAnswer("the server did not answer a moment ago")
        parameters = parameters | CONNECT_ARGS
        try:
            connection = Connection.connect(*args, **parameters)
        except errors.ConnectionTimeout as error:
            self._away_until = time.monotonic() + AWAY_SECONDS
            raise NoAnswer(str(error)) from error
        connection.reached_by = (args, parameters)
        return connection


def prepare_engine(engine: Engine) -> None:
    """Use our connection class, and check connections on checkout from the pool."""
    event.listen(engine, "do_connect", Breaker().connect)
    event.listen(engine.pool, "checkout", partial(_ping_after_idling, engine.dialect))
    event.listen(engine.pool, "checkin", _begin_idling)


def _patience() -> float | None:
    if not has_app_context():
        return None
    usual = ANSWER_SECONDS if has_request_context() else None
    seconds: float | None = g.get("patience", usual)
    return seconds


def _ping_after_idling(dialect: Dialect, connection: Any, record: Any, _proxy: Any) -> None:
    """Replace a pooled connection that the server has closed.

    A ping costs as much as a small query: without it share pages are 15 % faster. So a poll of the
    socket detects connections that the server closed, and a ping after idling detects servers that
    vanished with their network.
    """
    idle_since = record.info.pop("idle_since", None)
    if connection.pgconn.transaction_status in UNFINISHED:
        raise DisconnectionError("its last transaction could not be rolled back")
    try:
        idle = idle_since is not None and time.monotonic() - idle_since >= IDLE_SECONDS
        if not idle and not _has_unsolicited_message(connection):
            return
        connection.patience = PING_SECONDS
        dialect.do_ping(connection)
        connection.rollback()
        connection.patience = None
    except dialect.loaded_dbapi.Error as error:
        raise InvalidatePoolError from error


def _has_unsolicited_message(connection: Any) -> bool:
    """True if the server sent an unsolicited message: it is closing the connection."""
    unread = select.poll()
    unread.register(connection.fileno(), select.POLLIN)
    return bool(unread.poll(0))


def _begin_idling(_connection: Any, record: Any) -> None:
    record.info["idle_since"] = time.monotonic()
