"""DuckDB shut in: it sees the Arrow data it is handed, and no file, network, extension or Python variable."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # loading it would slow every --help down
    from duckdb import DuckDBPyConnection

_SHUT = (
    "SET memory_limit = '1GB'",
    "SET temp_directory = ''",
    "SET python_enable_replacements = false",
    "SET autoload_known_extensions = false",
    "SET autoinstall_known_extensions = false",
    "SET enable_external_access = false",
    "SET lock_configuration = true",  # last: nothing can be opened again
)


def connect(threads: int = 0) -> DuckDBPyConnection:
    """Open a database in memory that reaches nothing outside; 0 threads are as many as there are cores."""
    import duckdb

    connection = duckdb.connect(":memory:", config={"threads": threads} if threads else {})
    for statement in _SHUT:
        connection.execute(statement)
    return connection
