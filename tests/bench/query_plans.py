"""How much a database touches to carry out the statements that a call sends."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy import event

from webapp.base.database import db


def steps_of(call: Callable[[], Any]) -> int:
    """Rows on PostgreSQL, whose statistics choose the plan; instructions of the virtual machine on
    SQLite, where indexes alone do.
    """
    if db.engine.dialect.name == "sqlite":
        return _sqlite_work(call)
    sent: list[tuple[str, Any]] = []
    with _heard(lambda _connection, _cursor, sql, values, *_: sent.append((sql, values))):
        call()
    with db.engine.connect() as connection:
        plans = [
            connection.exec_driver_sql(f"EXPLAIN (ANALYZE, FORMAT JSON) {sql}", values).scalar_one()
            for sql, values in sent
            if not sql.startswith("BEGIN")
        ]
    return sum(_rows_in(plan[0]["Plan"]) for plan in plans)


@contextmanager
def _heard(listener: Callable[..., object]) -> Iterator[None]:
    event.listen(db.engine, "before_cursor_execute", listener)
    try:
        yield
    finally:
        event.remove(db.engine, "before_cursor_execute", listener)


def _sqlite_work(call: Callable[[], Any]) -> int:
    steps, drivers = itertools.count(), set[Any]()

    def watch(connection: Any, *_: Any) -> None:
        driver = connection.connection.dbapi_connection
        driver.set_progress_handler(lambda: next(steps) and None, 1)
        drivers.add(driver)

    with _heard(watch):
        call()
    for driver in drivers:
        driver.set_progress_handler(None, 0)
    return next(steps)


def _rows_in(node: dict[str, Any]) -> int:
    mine = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    inner = sum(map(_rows_in, node.get("Plans", [])))
    return int(mine * node["Actual Loops"]) + inner
