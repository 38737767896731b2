"""Opening the database file: pragmas, migrations, and a pool of read-only connections.

Owns how connections behave. Knows nothing of the tables' meaning.
"""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from types import TracebackType
from weakref import WeakSet

import apsw

from ovillo.model.data_files import beside
from ovillo.model.database_file import FileVersion
from ovillo.model.errors import StoreUnavailable
from ovillo.security.private_files import close_to_others, ensure, make_folder
from ovillo.store.sqlite.faults import explained, out_of_descriptors
from ovillo.store.sqlite.file_version import note_version, refuse_newer, schema_of, version_of
from ovillo.store.sqlite.sequences import WritingConnection
from ovillo.store.sqlite.standing import application_id, forsake

#: How long to wait for another process, which may be migrating a large file, and for a read, which nothing should block
#: (milliseconds).
_MIGRATION_MS = 60_000
_READ_MS = 5_000
#: A file of more bytes is read with a larger page cache (KiB) by so many connections: those that one client's questions come
#: back to. Of a million messages, the lengths of their texts alone take 13 MB, and each search reads two thousand of them.
_LARGE_FILE, _LARGE_CACHE, _ROOMY = 1 << 29, 16_384, 2
#: As many as an HTTP server's threads; opening a connection costs more than most reads.
_POOL_SIZE = 12
_OPENING_S = 5.0


def open_writer(path: Path) -> apsw.Connection:
    """The connection that migrates and writes. Raises StoreUnavailable, IntegrityError."""
    _make_folder(path.parent)
    _make_private(path)
    with explained(path):
        connection = _patiently(lambda: _in_wal_mode(path))
        # An acknowledged message survives a power failure; commits are grouped, so this costs next to nothing.
        connection.pragma("synchronous", 2)
        connection.pragma("cache_size", -8_192)
        # What is deleted is zeroed (ADR 0041). So is it by default in the builds we ask for; nothing should depend on it.
        connection.pragma("secure_delete", True)
        connection.pragma("wal_autocheckpoint", 4_000)
        connection.pragma("journal_size_limit", 67_108_864)
        _migrate(connection)
    return connection


def _make_folder(folder: Path) -> None:
    try:
        make_folder(folder)
    except FileExistsError as error:
        raise StoreUnavailable(
            f"The data folder {folder} cannot be made: there is a file of that name.",
            hint="Name another folder with --data-dir or OVILLO_DATA_DIR, or move that file away.",
        ) from error
    except OSError as error:
        raise StoreUnavailable(
            f"The data folder {folder} cannot be made: {(error.strerror or str(error)).lower()}.",
            hint="Name another folder with --data-dir or OVILLO_DATA_DIR, or make this one.",
        ) from error


def _make_private(path: Path) -> None:
    """Sessions hold what people said to their agents: nobody else on the machine may read them, not even while the file
    is being created. SQLite gives the log and the shared memory the database's mode."""
    with suppress(OSError):  # opening it says what is wrong
        ensure(path)
    for ending in ("", "-wal", "-shm"):
        close_to_others(path.with_name(path.name + ending))


def is_read_only(path: Path) -> bool:
    """Whether the database exists, is complete without a write-ahead log, and is in a place that cannot be written."""
    log = path.with_name(path.name + "-wal")
    if not path.is_file() or (log.exists() and log.stat().st_size):
        return False
    try:
        with path.open("ab"):
            return not os.access(path.parent, os.W_OK)
    except OSError:
        return True


def open_unwritable(path: Path) -> apsw.Connection:
    """A connection to a database on read-only storage: without log and shared memory, which could not be created."""
    with explained(path):
        connection = apsw.Connection(
            f"{path.as_uri()}?immutable=1", flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
        )
        connection.pragma("cache_size", -16_384)
    return connection


def open_reader(path: Path) -> apsw.Connection:
    """A connection for queries. Opened for writing all the same: a read-only one can neither set up the write-ahead
    log's shared memory when it is the first, nor fold the log in when it is the last."""
    with explained(path):
        connection = _patiently(lambda: apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE))
        connection.set_busy_timeout(_READ_MS)
        connection.pragma("query_only", True)
        # Each of twelve has its own cache, and the system caches the file anyway: with 16 MB each a busy server takes
        # 100 MB more and searches no faster; with 4 MB 17 MB more than with 2, in no less processor time.
        # Not memory-mapped: the system counts each connection's mapping as the process's memory, and a server with
        # eight readers over 200 MB showed 1.4 GB instead of 0.3. Without it, a search of a million messages takes an
        # eighth longer, one of 200 MB no longer.
        connection.pragma("cache_size", -2_048)
    return connection


def _in_wal_mode(path: Path) -> apsw.Connection:
    connection = WritingConnection(str(path))
    connection.set_busy_timeout(_MIGRATION_MS)
    connection.pragma("page_size", 8192)
    connection.pragma("journal_mode", "wal")
    return connection


def _patiently(connect: Callable[[], apsw.Connection]) -> apsw.Connection:
    """Retries while other processes open or close the same new file: SQLite calls no busy handler for that."""
    give_up = time.monotonic() + _OPENING_S
    while True:
        try:
            return connect()
        except (apsw.BusyError, apsw.LockedError, apsw.ReadOnlyError, apsw.CantOpenError):
            if time.monotonic() > give_up or out_of_descriptors():
                raise
            time.sleep(0.02)


class _Reading:
    """One use of a connection. Not a generator: reading a session takes a dozen of these, and generators were a tenth
    of its time."""

    __slots__ = ("_began", "_connection", "_pool")

    def __init__(self, pool: ReaderPool) -> None:
        self._pool = pool

    def __enter__(self) -> apsw.Connection:
        self._connection = self._pool.take()
        self._began = time.monotonic()
        return self._connection

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._pool.give_back(self._connection)
            return
        try:
            with explained(self._pool.path, self._connection, self._began):
                raise error
        finally:
            self._connection.close()


class ReaderPool:
    """Hands out read-only connections; at most a few stay open between uses."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[Path], apsw.Connection] = open_reader,
        check: Callable[[], None] | None = None,
    ) -> None:
        """``check`` is called before every read, and raises when the file must not be read any more."""
        self.path = path
        self._connect = connect
        self._check = check
        self._idle: deque[apsw.Connection] = deque()
        self._roomy: WeakSet[apsw.Connection] = WeakSet()
        self._closed = threading.Event()

    def reading(self) -> AbstractContextManager[apsw.Connection]:
        """A connection for one read; a transaction on it gives a snapshot where several statements must agree."""
        return _Reading(self)

    def take(self) -> apsw.Connection:
        if self._closed.is_set():
            raise StoreUnavailable("The store is closed.", hint="Open it again.")
        if self._check is not None:
            self._check()
        try:
            return self._idle.pop()
        except IndexError:
            return self._opened()

    def _opened(self) -> apsw.Connection:
        connection = self._connect(self.path)
        with suppress(OSError):  # removed in this moment: the first read says so
            if len(self._roomy) < _ROOMY and self.path.stat().st_size > _LARGE_FILE:
                connection.pragma("cache_size", -_LARGE_CACHE)
                self._roomy.add(connection)
        return connection

    def give_back(self, connection: apsw.Connection) -> None:
        # One or two more may stay when several are returned at once.
        if len(self._idle) < _POOL_SIZE:
            self._idle.append(connection)
        else:
            connection.close()

    @property
    def is_closed(self) -> bool:
        return self._closed.is_set()

    def close(self, *, untouched: bool = False) -> None:
        """``untouched``: the file is no longer ours, so nothing is folded into it."""
        self._closed.set()
        while True:
            try:
                connection = self._idle.pop()
            except IndexError:
                return
            if untouched:
                forsake(connection)
            connection.close()


@cache
def _steps() -> list[tuple[int, Path]]:
    return sorted((int(entry.name[:4]), entry) for entry in beside(__file__, "migrations").glob("*.sql"))


def _migrate(connection: apsw.Connection) -> None:
    steps = _steps()
    newest = steps[-1][0]
    if schema_of(connection) == newest and connection.pragma("application_id"):
        return
    # Exclusive, because several processes may start at once on a new file; the version is read again inside.
    connection.execute("BEGIN EXCLUSIVE")
    try:
        have = schema_of(connection)
        refuse_newer(connection, newest)
        for number, entry in steps:
            if number > have:
                connection.execute(entry.read_text(encoding="utf-8"))
                connection.pragma("user_version", number)
        if have < newest:
            note_version(connection)
        application_id(connection)
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def newest_schema() -> int:
    """The schema this program knows."""
    return _steps()[-1][0]


@cache
def own_triggers() -> frozenset[str]:
    """SQL of all triggers and views that any schema version has had."""
    found: set[str] = set()
    connection = apsw.Connection(":memory:")
    try:
        for _, entry in _steps():
            connection.execute(entry.read_text(encoding="utf-8"))
            found |= {
                sql for (sql,) in connection.execute("SELECT sql FROM sqlite_schema WHERE type IN ('trigger', 'view')")
            }
    finally:
        connection.close()
    return frozenset(found)


def schema_is_current(connection: apsw.Connection) -> bool:
    """Whether the file has this program's schema; a newer program may have upgraded it since it was opened."""
    return schema_of(connection) == newest_schema()


def file_version(path: Path) -> FileVersion:
    """Version of an existing database, without migrating it. Raises IntegrityError, StoreUnavailable."""
    connection = open_unwritable(path) if is_read_only(path) else open_reader(path)
    try:
        with explained(path):
            return version_of(connection, newest_schema())
    finally:
        connection.close()
