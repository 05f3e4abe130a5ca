"""How a database carries out the statements that a call sends."""

import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import event

from webapp.base.database import db


@dataclass
class Statements:
    """The statements of a call with their parameters, as the driver got them."""

    sent: list[tuple[str, Any]] = field(default_factory=list)

    def keep(self, _connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        self.sent.append((statement, values))


def statements_of(call: Callable[[], Any]) -> list[tuple[str, Any]]:
    """What `call` sends to the database, in order."""
    statements = Statements()
    event.listen(db.engine, "before_cursor_execute", statements.keep)
    try:
        call()
    finally:
        event.remove(db.engine, "before_cursor_execute", statements.keep)
    return [(sql, values) for sql, values in statements.sent if not sql.startswith("BEGIN")]


def plan_of(call: Callable[[], Any]) -> list[str]:
    """One line for each step of each statement: what is read and through which index."""
    explain = _sqlite_steps if db.engine.dialect.name == "sqlite" else _postgresql_steps
    return [step for sql, values in statements_of(call) for step in explain(sql, values)]


def _sqlite_steps(sql: str, values: Any) -> Iterator[str]:
    with db.engine.connect() as connection:
        for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", values):
            yield row.detail


def _postgresql_steps(sql: str, values: Any) -> Iterator[str]:
    with db.engine.connect() as connection:
        found = connection.exec_driver_sql(f"EXPLAIN (FORMAT JSON) {sql}", values).scalar_one()
    plans = json.loads(found) if isinstance(found, str) else found
    yield from _postgresql_nodes(plans[0]["Plan"])


def _postgresql_nodes(node: dict[str, Any]) -> Iterator[str]:
    parts = [node["Node Type"], node.get("Relation Name", ""), node.get("Index Name", "")]
    yield " ".join([*parts, node.get("Index Cond", "")])
    for inner in node.get("Plans", []):
        yield from _postgresql_nodes(inner)


def steps_of(call: Callable[[], Any]) -> int:
    """How much the database touches for a call: rows on PostgreSQL, whose statistics choose the
    plan; instructions of the virtual machine on SQLite, where indexes alone do.
    """
    if db.engine.dialect.name == "sqlite":
        return _sqlite_work(call)
    return sum(_postgresql_rows(sql, values) for sql, values in statements_of(call))


def _sqlite_work(call: Callable[[], Any]) -> int:
    steps, drivers = itertools.count(), set[Any]()

    def watch(connection: Any, *_: Any) -> None:
        driver = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: next(steps) and None, 1)
        drivers.add(driver)

    event.listen(db.engine, "before_cursor_execute", watch)
    try:
        call()
    finally:
        event.remove(db.engine, "before_cursor_execute", watch)
        for driver in drivers:
            driver.set_progress_handler(None, 0)
    return next(steps)


def _postgresql_rows(sql: str, values: Any) -> int:
    explain = f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}"
    with db.engine.connect() as connection:
        found = connection.exec_driver_sql(explain, values).scalar_one()
    return _rows_in(found[0]["Plan"])


def _rows_in(node: dict[str, Any]) -> int:
    mine = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    inner = sum(map(_rows_in, node.get("Plans", [])))
    return int(mine * node["Actual Loops"]) + inner
