"""How many files this process may open, and how they are shared out.

A server without a free file number can neither take a connection nor open its database: each use
has a share of its own, so that connections never take those of the work.
"""

import resource

MAX_CONNECTIONS = 4000
DATABASE_FILES = 192  # 64 connections of SQLite with a database, its log and a rollback journal
SPARE_FILES = 64  # logs, templates, connections to Redis, what comes in one turn of the loop
ENOUGH = 1024  # below, an operator is warned


def allowed() -> int:
    """The limit of this process, after raising it as far as we need and may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MAX_CONNECTIONS + DATABASE_FILES + SPARE_FILES
    if soft == resource.RLIM_INFINITY:
        return wanted
    if soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


def for_database() -> int:
    """Files of all connections to the database together."""
    return max(3, min(DATABASE_FILES, (allowed() - SPARE_FILES) // 3))


def for_connections() -> int:
    """Connections of clients, and what they keep in files."""
    return max(16, min(MAX_CONNECTIONS, allowed() - SPARE_FILES - for_database()))
