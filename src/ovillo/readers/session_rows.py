"""Stores that are one SQLite file with a row for each session: opening them, and which sessions changed.

Owns reading a foreign database without leaving a byte behind, damaged rows, and the cursor (one entry per
session: what its row and its messages' count and newest change say). Knows nothing of any client's tables.

SQLite makes ``-wal`` and ``-shm`` files beside a database in WAL mode even for a reader. So the file itself is
opened only where that cannot happen: where the client has them open already, or where the database is not in
WAL mode. Else, a copy is read: nobody has the database open then.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import apsw

from ovillo.model.records import Inventory, SessionDelta, SessionId, SkippedRecord
from ovillo.readers.jsonl import stat_regular
from ovillo.readers.loose import id_of
from ovillo.readers.protocol import Checkpoint, Cursor, Progress, Record

_BUSY_MS = 2_000
#: A database larger than this is not copied.
_MAX_COPY_BYTES = 4 << 30
_HEADER = b"SQLite format 3\0"
_WAL_MODE = 2

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Table:
    """A table there is, and its columns: clients add and drop them between versions."""

    name: str
    columns: frozenset[str]

    def pick(self, *names: str) -> str:
        """``names`` as a SELECT list; a column that does not exist is NULL.

        Text comes as bytes, since SQLite keeps invalid UTF-8 and one such row would end the query."""
        return ", ".join(_as_bytes(name) if name in self.columns else f"NULL AS {name}" for name in names)


def _as_bytes(column: str) -> str:
    return f"CASE typeof({column}) WHEN 'text' THEN CAST({column} AS BLOB) ELSE {column} END AS {column}"


class Database:
    """A foreign database while it is read."""

    def __init__(self, connection: apsw.Connection, name: str) -> None:
        self._connection = connection
        #: Path of the source, for damage reports.
        self.name = name

    def table(self, name: str) -> Table | None:
        rows = list(self.rows("SELECT CAST(name AS BLOB) AS name FROM pragma_table_info(?)", (name,)))
        return Table(name, frozenset(row["name"] for row in rows)) if rows else None

    def rows(self, sql: str, parameters: tuple[Any, ...] = ()) -> Iterator[Row]:
        """Rows by column name, bytes decoded. Raises apsw.Error and ValueError for damage."""
        cursor = self._connection.execute(sql, parameters)
        names: list[str] | None = None
        for row in cursor:
            names = names or [column[0] for column in cursor.get_description()]
            values = (x.decode("utf-8", "replace") if isinstance(x, bytes) else x for x in row)
            yield dict(zip(names, values, strict=True))


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """The database at ``path``, read-only and in one snapshot. Raises apsw.Error and OSError for damage."""
    if not _needs_copy(path):
        yield from _session(path, path)
        return
    state = stat_regular(path)
    if state is not None and state.size > _MAX_COPY_BYTES:
        raise OSError(f"{state.size} bytes are too many to copy")
    with TemporaryDirectory(prefix="ovillo-") as folder:
        copy = Path(folder) / "copy.db"
        shutil.copyfile(path, copy)
        wal = path.with_name(path.name + "-wal")
        if stat_regular(wal) is not None:
            shutil.copyfile(wal, copy.with_name("copy.db-wal"))
        yield from _session(copy, path)


def _session(path: Path, source: Path) -> Iterator[Database]:
    uri = f"file:{quote(str(path))}?mode=ro"
    connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.set_busy_timeout(_BUSY_MS)
        # A foreign schema may hold anything: no functions of it are trusted, no extension is loaded.
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("BEGIN")
        yield Database(connection, str(source))
    finally:
        connection.close()


def _needs_copy(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(20)
    if len(head) < 20 or not head.startswith(_HEADER) or _WAL_MODE not in (head[18], head[19]):
        return False
    return any(stat_regular(path.with_name(path.name + end)) is None for end in ("-wal", "-shm"))


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session's row, and a mark that changes whenever it or a message of it does."""

    id: str
    mark: tuple[Any, ...]
    row: Row


#: All sessions of the table ``sessions``, oldest first.
ListRows = Callable[[Database], Iterator[SessionRow]]
#: Everything of one session.
ReadRow = Callable[[Database, SessionRow], Iterator[SessionDelta | SkippedRecord]]


def scan_session_rows(
    path: Path, cursor: Cursor, only: SessionId | None, list_rows: ListRows, read: ReadRow
) -> Iterator[Record]:
    """What ``Reader.scan`` yields for one database."""
    state = stat_regular(path)
    if state is None:
        return
    try:
        with opened(path) as database:
            yield from _scan(database, state.size, cursor, only, list_rows, read)
    except (apsw.Error, OSError, LookupError, ValueError) as error:
        if only is None:
            yield SkippedRecord(str(path), "", f"cannot be read as SQLite: {error}")


def _scan(
    database: Database, size: int, cursor: Cursor, only: SessionId | None, list_rows: ListRows, read: ReadRow
) -> Iterator[Record]:
    if database.table("sessions") is None:
        # Nothing is said about what was deleted: a database just made, or emptied by damage, looks the same.
        if size and only is None:
            yield SkippedRecord(database.name, "", "holds no table of sessions")
        return
    found = list(list_rows(database))
    changed = [one for one in found if cursor.get(one.id) != list(one.mark) and only in (None, one.id)]
    if only is None:
        yield Progress(size if changed else 0)
    share = size // max(1, len(changed))
    for one in changed:
        complete = True
        for record in _read(database, one, read):
            complete = complete and not isinstance(record, SkippedRecord)
            if only is None or isinstance(record, SessionDelta):
                yield record
        # A session that could not be read whole is tried again: damage in a live database may be passing.
        yield Checkpoint({one.id: list(one.mark) if complete else None}, share)
    if only is None:
        present = {one.id for one in found}
        if gone := {key: None for key in cursor if key not in present}:
            yield Checkpoint(dict(gone))
        yield Inventory(frozenset(SessionId(one.id) for one in found))


def _read(database: Database, one: SessionRow, read: ReadRow) -> Iterator[SessionDelta | SkippedRecord]:
    try:
        yield from read(database, one)
    except Exception as error:  # noqa: BLE001  # the boundary of one session: others must still be read
        yield SkippedRecord(database.name, one.id, f"not understood: {type(error).__name__}: {error}")


def session_rows(database: Database, columns: tuple[str, ...], touched: str, order: str) -> Iterator[SessionRow]:
    """Rows of ``sessions`` with a mark from ``columns``, and count and newest ``touched`` of their ``messages``.

    Raises LookupError where the tables are not those of a client known."""
    table, said = database.table("sessions"), database.table("messages")
    if table is None or said is None or "id" not in table.columns or "session_id" not in said.columns:
        raise LookupError("the tables are not those of a known version")
    newest = f"max({touched})" if touched in said.columns else "max(rowid)"
    counts = {
        id_of(row["session_id"]): (row["n"], row["newest"])
        for row in database.rows(
            f"SELECT {said.pick('session_id')}, count(*) AS n, {newest} AS newest FROM messages GROUP BY 1"
        )
    }
    by = f"sessions.{order}" if order in table.columns else "rowid"
    for row in database.rows(f"SELECT {table.pick('id', *columns)} FROM sessions ORDER BY {by}, rowid"):
        session_id = id_of(row["id"])
        if session_id is not None:
            mark = (*(row[name] for name in columns), *counts.get(session_id, (0, None)))
            yield SessionRow(session_id, tuple(x if isinstance(x, str | int | float) else None for x in mark), row)
