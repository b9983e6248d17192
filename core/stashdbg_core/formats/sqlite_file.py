"""SQLite databases of other tools, read and never written: nothing that a database defines is run.

Only plain tables and plain columns are asked for, so no view, virtual table, trigger or generated column of the file's
author computes anything. No file is made beside the user's: without a log beside it the database is opened as
immutable, with one (``-wal``, ``-journal``: its newest changes) both are copied to a temporary folder first.
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from stashdbg_core.errors import StashError, invalid_recording
from stashdbg_core.formats.source import DATABASE_LOGS, Cancelled, ForeignSource
from stashdbg_core.sanitize import shorten

_TRIES = 3
_STEPS = 20_000
"""Instructions of SQLite between two looks at whether to go on."""
_MOST_STEPS = 50_000_000
"""Instructions of one query, beside one for each byte of the file: an index may lead in circles."""
_ROW = 8
"""Bytes that a row counts for at least."""
_LEAST = 1 << 16
_LENGTH = 1_000_000_000


class Database:
    """An open database; ``open_database`` makes one."""

    def __init__(self, connection: sqlite3.Connection, source: ForeignSource, size: int) -> None:
        self._connection = connection
        self._source = source
        self._name = shorten(source.name, 200)
        self._size = size
        self._steps = 0
        self._cancelled = False
        connection.set_progress_handler(self._go_on, _STEPS)
        connection.text_factory = lambda text: text.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(source.limits.line, _LENGTH))
        connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        for setting in ("trusted_schema = OFF", "query_only = ON", "cell_size_check = ON", "mmap_size = 0"):
            connection.execute(f"PRAGMA {setting}")
        self.tables = self._plain_tables()
        """The columns of each plain table."""
        connection.set_authorizer(self._authorize)

    def rows(self, query: str, parameters: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query; all of them hold no more bytes than the file does.

        Raises:
            StashError: ``ERR_INVALID_RECORDING``: the database is damaged, or gives more than it can hold.
            Cancelled: Whoever reads the file does not want it any more.
        """
        self._steps = 0
        held, count = max(self._size, _LEAST), 0
        try:
            for row in self._connection.execute(query, parameters):
                count += 1
                held -= _ROW + sum(len(value) for value in row if isinstance(value, str | bytes))
                if held < 0 or count > self._source.limits.events:
                    raise invalid_recording(f"{self._name} is damaged: its tables hold more than its size allows")
                yield row
        except (sqlite3.Error, UnicodeDecodeError) as error:  # a message may quote a damaged name
            if self._cancelled:
                raise Cancelled from error
            raise _damaged(self._name, error) from error

    def _plain_tables(self) -> dict[str, frozenset[str]]:
        listed = "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
        columns = "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0"
        return {
            name: frozenset(column for (column,) in self.rows(columns, (name,)) if isinstance(column, str))
            for (name,) in list(self.rows(listed))
            if isinstance(name, str)
        }

    def _authorize(self, action: int, table: str | None, column: str | None, *_: str | None) -> int:
        if action == sqlite3.SQLITE_SELECT:
            return sqlite3.SQLITE_OK
        is_known = action == sqlite3.SQLITE_READ and (not column or column in self.tables.get(table or "", ()))
        return sqlite3.SQLITE_OK if is_known else sqlite3.SQLITE_DENY

    def _go_on(self) -> int:
        self._steps += _STEPS
        try:
            self._source.tell(None)
        except Cancelled:
            self._cancelled = True
        return self._cancelled or self._steps > _MOST_STEPS + self._size


@contextmanager
def open_database(source: ForeignSource) -> Iterator[Database]:
    """Open a database for reading.

    Raises:
        StashError: ``ERR_INVALID_RECORDING``: it cannot be read, or is being written all the time.
    """
    with ExitStack() as held:
        path, logs = source.path, _logs(source)
        how = "mode=ro&immutable=1"
        if path is None or source.is_zstd or logs:
            folder = Path(held.enter_context(tempfile.TemporaryDirectory(prefix="stashdbg-database-")))
            path, how = _copied(source, folder), "mode=rw"
        try:
            connection = sqlite3.connect(f"{path.absolute().as_uri()}?{how}", uri=True, isolation_level=None)
            held.callback(connection.close)
            size = path.stat().st_size + sum(log.size for log in logs)
            database = Database(connection, source, size)
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            raise _damaged(shorten(source.name, 200), error) from error
        yield database


def tables_of(source: ForeignSource) -> dict[str, frozenset[str]]:
    """Return the plain tables of a database and their columns; none if it cannot be read."""
    try:
        with open_database(source) as database:
            return database.tables
    except StashError:
        return {}


def _logs(source: ForeignSource) -> list[ForeignSource]:
    """Return what lies beside a database and belongs to its content."""
    if source.path is None:
        return []
    name = source.path.resolve().name
    found = (source.beside(name + ending) for ending in DATABASE_LOGS)
    return [log for log in found if log is not None and log.size]


def _copied(source: ForeignSource, folder: Path) -> Path:
    """Copy a database and its logs as they were at one moment."""
    for attempt in range(_TRIES):
        target, logs = folder / f"copy{attempt}", _logs(source)
        source.write_to(target)
        for log in logs:
            log.write_to(folder / f"copy{attempt}-{log.name.rpartition('-')[2]}")
        if not any(one.changed() for one in (source, *logs)) and len(logs) == len(_logs(source)):
            return target
        source.grow()
    raise invalid_recording(
        f"{shorten(source.name, 200)} is written to all the time", hint="open it again when its program rests"
    )


def _damaged(name: str, error: Exception) -> StashError:
    return invalid_recording(
        f"{name} cannot be read as a database: {shorten(str(error), 120)}",
        hint="sqlite3 FILE .recover rescues what is left of a damaged one",
    )
