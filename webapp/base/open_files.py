"""The limit of open files of this process, and the share of the database in it.

A server without a free file descriptor can neither accept a connection nor open its database.
"""

import resource

DATABASE_FILES = 192  # 64 connections of SQLite, each with database, log and rollback journal
RECOMMENDED = 8192  # the operator is warned of a lower limit: each connection takes one


def limit() -> int:
    """Raise RLIMIT_NOFILE as far as recommended and permitted; return the limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return RECOMMENDED
    if soft < RECOMMENDED:
        soft = RECOMMENDED if hard == resource.RLIM_INFINITY else min(RECOMMENDED, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def for_database() -> int:
    """Return how many descriptors all connections to the database may take."""
    return max(3, min(DATABASE_FILES, limit() // 4))
