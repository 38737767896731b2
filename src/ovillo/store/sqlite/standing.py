"""Whether the opened file is still the one at its path, with its write-ahead log beside it.

Owns that check. SQLite goes on writing to a file that was deleted or replaced, or to a log that nobody else sees: what
is acknowledged then is lost. Three ``stat`` calls detect it, before a group of writes and after it.
"""

from __future__ import annotations

import os
import struct
import threading
import time
from array import array
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import apsw

from ovillo.model.errors import IntegrityError, StoreChanged, StoreUnavailable
from ovillo.security.private_files import write

REPAIR = (
    "Run `ovillo doctor`: it says what is damaged; `ovillo doctor --repair` keeps the file and saves what can be saved. "
    "The agents' own files are untouched."
)
_RESTART = (
    "Put the right file back, or end ovillo and start it again on what is there: `ovillo doctor` says what that is."
)
_MAGIC = b"SQLite format 3\0"
#: Offsets in the header: page count and application id (SQLite, "Database File Format" 1.3).
_PAGES, _APPLICATION = 28, 68

#: A check this recent (seconds) still counts for a read or a transaction that begins. A query makes dozens of reads;
#: each transaction is checked once more at its end.
_JUST_NOW_S = 0.001

Identity = tuple[int, int]


class Standing:
    """Of one open database. ``check`` may be called on any thread."""

    def __init__(self, path: Path, connection: apsw.Connection, newest_schema: int) -> None:
        self._path = path
        #: For ``stat``, which is slower on a ``Path``.
        self._name = str(path)
        self._newest_schema = newest_schema
        self._log_path = f"{path}-wal"
        self._companions = (
            (self._log_path, _identity(self._log_path)),
            (f"{path}-shm", _identity(f"{path}-shm")),
        )
        self._main = _identity(path)
        if self._main is None or has_moved(connection):
            raise self._replaced()
        self._header = _Header.of(path, self._main)
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        #: The file's pages at the last check, its pages now, and the schema cookie then: only a rewrite shrinks the
        #: file, and that increments the cookie.
        self._most_pages = self._pages = self._cookie = 0
        #: Pages after a rewrite that is still in the log.
        self._rewritten_to: int | None = None
        #: SQLite's data version at the last check of the schema: unchanged while nobody else commits.
        self._version: int | None = None
        self._checked_at = -_JUST_NOW_S
        #: Whether the last check raised; connections of a store that lost its file leave everything as it is.
        self.is_broken = False
        #: Assigned when a database is first written, and never changed: detects another one copied over this one.
        self._application = int(connection.pragma("application_id"))
        #: Raised again and again once the file was overwritten: its old contents are lost.
        self._lost: StoreChanged | None = None
        self._write_down()

    def close(self) -> None:
        """Call after all connections were closed: closing a file drops the locks that SQLite holds on it."""
        self._header.leave()

    def check(self) -> None:
        """Raises StoreChanged."""
        began = time.monotonic()
        try:
            self._check()
        except StoreChanged:
            self.is_broken = True
            raise
        self.is_broken = False
        self._checked_at = began

    def check_unless_just_done(self) -> None:
        """Raises StoreChanged."""
        if self.is_broken or time.monotonic() - self._checked_at > _JUST_NOW_S:
            self.check()

    def check_before(self, db: apsw.Connection) -> None:
        """At the beginning of a transaction. Raises StoreChanged."""
        self.check_unless_just_done()
        self._check_content(db)

    def check_after(self, db: apsw.Connection) -> None:
        """After COMMIT. Raises StoreChanged."""
        self.check()
        if self._version is not None:
            self._version = db.data_version()

    def _check(self) -> None:
        if self._lost is not None:
            raise self._lost
        try:
            found = os.stat(self._name)  # noqa: PTH116  two of these go before every commit
        except OSError:
            raise self._gone() from None
        if (found.st_dev, found.st_ino) != self._main:
            raise self._replaced()
        if (found.st_mtime_ns, found.st_size) != self._seen:
            self._look_inside((found.st_mtime_ns, found.st_size))
        for path, identity in self._companions:
            if identity is not None and _identity(path) != identity:
                raise self._log_lost(path)

    def _check_content(self, db: apsw.Connection) -> None:
        if db.data_version() != self._version:
            self._ask_schema(db)
        if self._pages < self._most_pages:
            if self._rewritten_to is None or self._pages < self._rewritten_to:
                # The file shrank without a rewrite: an earlier copy replaced it.
                raise self._overwritten()
            self._rewritten_to = None
        self._most_pages = self._pages

    def _ask_schema(self, db: apsw.Connection) -> None:
        self._version = None
        version = int(db.pragma("user_version"))
        if version != self._newest_schema:
            raise self.other_schema(version)
        cookie = int(db.pragma("schema_version"))
        if cookie != self._cookie:
            # The rewrite may still be in the log: the file itself shrinks later.
            self._rewritten_to = int(db.pragma("page_count")) if self._cookie else None
            self._cookie, self._most_pages = cookie, self._pages
        self._version = db.data_version()

    def other_schema(self, version: int) -> StoreChanged:
        from ovillo.model.installation import installation  # start-up cost: only here

        return StoreChanged(
            f"The database {self._path} was brought to schema {version} by another version of ovillo while this one, "
            f"which knows {self._newest_schema}, had it open.",
            hint="Nothing more is written with the old schema. Upgrade this ovillo, and start it again: "
            f"{installation().upgrade}",
        )

    @property
    def log_is_gone(self) -> bool:
        """Whether the log was deleted and nobody made another one."""
        return self._companions[0][1] is not None and not os.path.lexists(self._log_path)

    def _look_inside(self, seen: tuple[int, int]) -> None:
        """Somebody wrote to the file itself: a checkpoint, or another database copied over it."""
        with self._lock:
            header = self._header.read()
            if header is None:
                self._seen = seen  # not readable from outside (encrypted)
                return
            if not header and not self._pages:
                return  # new: all of it is still in the log
            if len(header) < 100 or not header.startswith(_MAGIC):
                raise self._overwritten()
            if _application_in(header) not in (0, self._application):
                raise self._overwritten()
            self._pages, self._seen = struct.unpack_from(">I", header, _PAGES)[0], seen

    def _write_down(self) -> None:
        """Before the first write: records which file the log belongs to."""
        log = self._companions[0][1]
        if log is not None and self._main is not None:
            _write_note(self._path, _Noted(self._main, log, self._application))

    def _gone(self) -> StoreChanged:
        return StoreChanged(
            f"The database {self._path} was deleted or moved away while ovillo had it open; nothing is stored any more.",
            hint=_RESTART,
        )

    def _replaced(self) -> StoreChanged:
        return StoreChanged(
            f"Another file was put in the place of the database {self._path} while ovillo had it open; nothing is stored "
            "any more.",
            hint=_RESTART,
        )

    def _overwritten(self) -> StoreChanged:
        self._lost = StoreChanged(
            f"Another file was copied over the database {self._path} while ovillo had it open; nothing is stored any more.",
            hint=_RESTART,
        )
        return self._lost

    def _log_lost(self, path: str) -> StoreChanged:
        return StoreChanged(
            f"{path}, the write-ahead log of the database or its index, was deleted or replaced while ovillo had it open; "
            "nothing is stored any more.",
            hint="End all ovillo processes and start again; these files belong to the database as long as one runs.",
        )


def application_id(connection: apsw.Connection) -> int:
    """A random number that stays with the database; assigned when it has none."""
    known = int(connection.pragma("application_id"))
    if not known:
        connection.pragma("application_id", 1 + int.from_bytes(os.urandom(3), "big"))
        known = int(connection.pragma("application_id"))
    return known


def forsake(connection: apsw.Connection) -> None:
    """Closing this connection folds nothing into the file, which is no longer ours."""
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)


def _application_in(header: bytes) -> int:
    (application,) = struct.unpack_from(">i", header, _APPLICATION)
    return int(application)


class _Noted(NamedTuple):
    """A small file beside the database that records which file the log belongs to, for a log left by a killed
    process."""

    main: Identity
    log: Identity
    application: int


def check_log(path: Path) -> None:
    """Before the database is opened: a leftover log must not be folded into a file that replaced the original since.
    Raises StoreUnavailable."""
    log, main = _identity(f"{path}-wal"), _identity(path)
    noted = _read_note(path)
    if main is None:
        # The database was deleted on purpose: a new one begins.
        with suppress(OSError):  # what is wrong with the folder is said by opening
            _note_path(path).unlink(missing_ok=True)
    elif noted is not None and not _holds_something(str(path)):
        raise IntegrityError(f"The database {path} is damaged: the file is empty, and it held something.", hint=REPAIR)
    if main is None or noted is None or noted.log != log or not _holds_something(f"{path}-wal"):
        return
    header = _Header.of(path, main)
    try:
        start = header.read() or b""
    finally:
        header.leave()
    application = _application_in(start) if len(start) >= 100 else 0
    if noted.main != main or application not in (0, noted.application):
        raise StoreUnavailable(
            f"{path}-wal is the write-ahead log of another database than {path}: was that file put here from elsewhere?",
            hint="With no ovillo running, move that log and the file ending in -shm away, and start again; or put back the "
            "database that the log belongs to.",
        )


def check_whole_log(path: Path, connection: apsw.Connection) -> None:
    """After opening: SQLite reads a log up to its first damaged frame and silently drops the rest. A transaction that
    another one follows was acknowledged. Raises IntegrityError."""
    later = _later_frames(f"{path}-wal")
    if not later:
        return
    taken, _ = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_NOOP)
    dropped = [(number, commits) for number, commits in later if number > taken]
    ends = [number for number, commits in dropped if commits]
    if taken >= 0 and ends and dropped[-1][0] > ends[0]:
        raise IntegrityError(
            f"The database {path} is damaged: its write-ahead log cannot be read from frame {taken + 1} on.",
            hint=REPAIR,
        )


def _later_frames(path: str) -> list[tuple[int, bool]]:
    """Frames of the log on disk: their numbers, and whether each ends a transaction."""
    found = []
    with suppress(OSError), open(path, "rb") as log:  # noqa: PTH123  at every start
        start = log.read(32)
        if len(start) < 32:
            return []
        size = int.from_bytes(start[8:12], "big")
        number = 1
        while size:
            log.seek(32 + (number - 1) * (24 + size))
            head = log.read(24)
            if len(head) < 24:
                break
            if head[8:16] == start[16:24]:
                found.append((number, any(head[4:8])))
            number += 1
    return found


def _note_path(path: Path) -> Path:
    return path.with_name(f"{path.name}-note")


def _read_note(path: Path) -> _Noted | None:
    try:
        numbers = [int(word) for word in _note_path(path).read_text(encoding="ascii").split()]
    except (OSError, ValueError):
        return None
    if len(numbers) != 5:
        return None
    return _Noted((numbers[0], numbers[1]), (numbers[2], numbers[3]), numbers[4])


def _write_note(path: Path, noted: _Noted) -> None:
    if _read_note(path) == noted:
        return
    words = f"{noted.main[0]} {noted.main[1]} {noted.log[0]} {noted.log[1]} {noted.application}\n"
    with suppress(OSError):  # a missed check is no reason not to start
        write(_note_path(path), words.encode("ascii"), replace=True)


class _Header:
    """The first bytes of a file, read without SQLite. One descriptor per file and process, kept until the last store on
    it is closed, because closing any descriptor drops all of the process's locks on the file."""

    _open: dict[Identity, _Header] = {}  # noqa: RUF012
    _changing = threading.Lock()

    def __init__(self, identity: Identity, descriptor: int | None) -> None:
        self._identity = identity
        self._descriptor = descriptor
        self._users = 0

    @classmethod
    def of(cls, path: Path, identity: Identity) -> _Header:
        with cls._changing:
            there = cls._open.get(identity)
            if there is None:
                try:
                    descriptor = (
                        os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0)) if os.name == "posix" else None
                    )
                except OSError as error:
                    raise StoreUnavailable(f"The database {path} cannot be opened: {error.strerror}.") from error
                there = cls._open[identity] = cls(identity, descriptor)
                if not (there.read() or _MAGIC).startswith(_MAGIC) and there._descriptor is not None:
                    there.is_plain = False
            there._users += 1
            return there

    is_plain = True

    def read(self) -> bytes | None:
        """``None`` where it cannot be read from outside."""
        if self._descriptor is None or not self.is_plain:
            return None
        try:
            return os.pread(self._descriptor, 100, 0)
        except OSError:
            return None

    def leave(self) -> None:
        with self._changing:
            self._users -= 1
            if not self._users:
                self._open.pop(self._identity, None)
                if self._descriptor is not None:
                    os.close(self._descriptor)


def _identity(path: str | Path) -> Identity | None:
    try:
        found = os.stat(path)  # noqa: PTH116  see ``Standing.check``
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _holds_something(path: str) -> bool:
    try:
        return os.stat(path).st_size > 0  # noqa: PTH116  see ``Standing.check``
    except OSError:
        return False


def has_moved(connection: apsw.Connection) -> bool:
    """Asks SQLite about the file it has open, not about one that took its path since."""
    moved = array("i", [0])
    connection.file_control("main", apsw.SQLITE_FCNTL_HAS_MOVED, moved.buffer_info()[0])
    return bool(moved[0])
