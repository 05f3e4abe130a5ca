"""The limit of open files of this process, and how it is divided.

A server without a free file descriptor can neither accept a connection nor open its database. Each
use has a share of its own, so that connections never take the descriptors of the database.
"""

import resource

MAX_CONNECTIONS = 4000
DATABASE_FILES = 192  # 64 connections of SQLite with a database, its log and a rollback journal
SPARE_FILES = 64  # logs, templates, Redis, connections accepted in one turn of the loop
RECOMMENDED = 1024  # the operator is warned of a lower limit


def limit() -> int:
    """The limit of this process (RLIMIT_NOFILE), raised as far as needed and permitted."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + DATABASE_FILES + SPARE_FILES
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def for_database() -> int:
    """Descriptors for all connections to the database."""
    return max(3, min(DATABASE_FILES, (limit() - SPARE_FILES) // 3))


def for_connections() -> int:
    """Descriptors for connections of clients and their files on disk."""
    return max(16, min(MAX_CONNECTIONS, limit() - SPARE_FILES - for_database()))
