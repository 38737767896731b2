"""Zeroing what removed rows left in unused parts of the database file, while others go on writing.

Owns how that is made safe. SQLite zeroes a row where it is deleted (``secure_delete``), but not copies of it that moving
rows between pages left behind in pages that stay; only writing the file anew took those away, which holds every writer
for seconds. No statement reaches them, so they are zeroed in the file itself (ADR 0041):

- While somebody reads the state that the file itself holds, SQLite folds nothing of the log into the file. A reading
  connection of ours does so (the pin): nobody else writes to the file then, and unused bytes mean nothing to readers.
- Pages that others write meanwhile are in the log, perhaps with the old bytes. They are done afterwards, again and again
  until they are few; these are done while nobody can write.
- A last commit makes every other connection drop the pages it holds in memory, which may have the old bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import NamedTuple

import apsw

from ovillo.model.errors import StoreChanged
from ovillo.store.sqlite.connection import open_reader, open_writer
from ovillo.store.sqlite.standing import has_moved
from ovillo.store.sqlite.unused_bytes import Layout, Span, spans_in_use_of_nobody, spans_on_free_pages

#: Bytes read at once, and the pause after them, in which this process's other threads get their turn (seconds).
_CHUNK, _GIVE_WAY_S = 1 << 21, 0.001
#: So many pages (8 KiB each) are done while writers wait: some 10 ms.
_FEW = 400
#: Bytes zeroed before they are brought to the disk, so that nobody's commit waits for all of them.
_UNSYNCED = 1 << 24
#: How long to wait for readers of an older state, and between two looks (seconds); for other writers (milliseconds).
_PATIENCE_S, _LOOK_S, _BUSY_MS = 2.0, 0.05, 10_000
#: Rounds after which the rest is done while writers wait, however much it is. Each takes a small part of the time of the
#: one before, so that two or three are usual.
_ROUNDS = 10
#: Its value changes with every scrubbing.
_SCRUBBED = "scrubbed"


class CannotScrub(Exception):
    """The file is not one whose unused bytes are known (see ``Layout.of``)."""


def scrub(path: Path) -> bool:
    """Zero all unused bytes of the database file. False when somebody reads an older state for long: nothing is promised
    then. Raises CannotScrub, StoreChanged; apsw.Error for what SQLite says."""
    with ExitStack() as opened:
        # The log is folded by one connection while another holds the lock of writers.
        lock, folding = (opened.enter_context(closing(open_writer(path))) for _ in range(2))
        pins = [opened.enter_context(closing(open_reader(path))) for _ in range(2)]
        if lock.pragma("journal_mode") != "wal":
            raise CannotScrub
        lock.set_busy_timeout(_BUSY_MS)
        folding.set_busy_timeout(0)
        file = opened.enter_context(closing(_File(path)))
        if any(has_moved(connection) for connection in (lock, folding, *pins)):
            raise StoreChanged(f"Another file was put in the place of the database {path}.", hint="Try again.")
        return _Scrubbing(_Log(path), lock, folding, pins, file).run()


class _File:
    """The database file, through SQLite's own layer: closing a descriptor of ours would drop the locks this process
    holds on it."""

    def __init__(self, path: Path) -> None:
        layer = apsw.vfs_names()[0].removeprefix("multipleciphers-")
        self._file = apsw.VFSFile(layer, str(path), [apsw.SQLITE_OPEN_MAIN_DB | apsw.SQLITE_OPEN_READWRITE, 0])
        self._unsynced = 0

    def close(self) -> None:
        self._file.xClose()

    def read(self, offset: int, length: int) -> bytes:
        return bytes(self._file.xRead(length, offset))

    def size(self) -> int:
        return int(self._file.xFileSize())

    def layout(self) -> Layout:
        size = self.size()
        found = Layout.of(self.read(0, 100), size) if size >= 100 else None
        if found is None:
            raise CannotScrub
        return found

    def zero(self, spans: Iterable[Span]) -> None:
        for begin, end in spans:
            self._file.xWrite(bytes(end - begin), begin)
            self._unsynced += end - begin
            if self._unsynced > _UNSYNCED:
                self.sync()
        self.sync()

    def sync(self) -> None:
        if self._unsynced:
            self._file.xSync(apsw.SQLITE_SYNC_NORMAL)
            self._unsynced = 0


class _Seen(NamedTuple):
    #: Changes when SQLite begins the log anew.
    salt: bytes
    frames: int


class _Log:
    """The write-ahead log as it is on the disk. SQLite locks no byte of it, so that it may be opened and closed."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(f"{path.name}-wal")
        self._seen = _Seen(b"", 0)

    def pages(self) -> set[int]:
        """Numbers of the pages that were written since the last call."""
        found = set()
        with self._path.open("rb", buffering=0) as log:
            start = log.read(32)
            salt, size = start[16:24], int.from_bytes(start[8:12], "big")
            number = self._seen.frames if salt == self._seen.salt else 0
            while len(start) == 32:
                log.seek(32 + number * (24 + size))
                frame = log.read(24)
                if len(frame) < 24 or frame[8:16] != salt:
                    break
                found.add(int.from_bytes(frame[:4], "big"))
                number += 1
        self._seen = _Seen(salt, number)
        return found


class _Scrubbing:
    def __init__(
        self, log: _Log, lock: apsw.Connection, folding: apsw.Connection, pins: list[apsw.Connection], file: _File
    ) -> None:
        self._log = log
        self._lock = lock
        self._folding = folding
        #: One of them reads; at the end of the list.
        self._pins = pins
        self._file = file

    def run(self) -> bool:
        for number in range(_ROUNDS):
            written = self._settle()
            if written is None:
                return False
            # Nobody can write now, and the file holds everything.
            if number and (len(written) <= _FEW or number == _ROUNDS - 1):
                self._file.zero(self._on(written))
                self._make_others_forget()
                return True
            self._pin()
            self._lock.execute("ROLLBACK")
            self._file.zero(self._on(written) if number else self._everywhere())
        raise AssertionError("the last round returns")

    def _settle(self) -> set[int] | None:
        """Takes the lock of writers with everything in the file; returns the pages written since the last time. ``None``
        without the lock when readers of an older state prevent that."""
        give_up = time.monotonic() + _PATIENCE_S
        while True:
            # Most of the log is folded before writers have to wait. It is pinned all the time, so that SQLite
            # does not begin it anew before its pages are noted.
            self._pin()
            self._fold()
            self._lock.execute("BEGIN IMMEDIATE")
            self._pins[-1].execute("ROLLBACK")
            if self._fold():
                return self._log.pages()
            self._pin()
            self._lock.execute("ROLLBACK")
            if time.monotonic() > give_up:
                return None
            time.sleep(_LOOK_S)

    def _pin(self) -> None:
        """Another connection reads the newest state, and only then the one before stops."""
        self._pins.reverse()
        before, now = self._pins
        if not now.in_transaction:
            now.execute("BEGIN")
            now.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
        if before.in_transaction:
            before.execute("ROLLBACK")

    def _fold(self) -> bool:
        """Whether all of the log is in the file."""
        try:
            frames, folded = self._folding.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        except apsw.BusyError:  # another connection is folding it
            return False
        return bool(0 <= frames == folded)

    def _everywhere(self) -> Iterator[Span]:
        layout, size = self._file.layout(), self._file.size()
        yield from spans_on_free_pages(layout, size, self._file.read)
        page_size = layout.page_size
        for begin in range(0, size, _CHUNK):
            data = self._file.read(begin, min(_CHUNK, size - begin))
            for at in range(0, len(data) - page_size + 1, page_size):
                for start, end in spans_in_use_of_nobody(data, at, page_size):
                    yield begin + start, begin + end
            time.sleep(_GIVE_WAY_S)

    def _on(self, numbers: Iterable[int]) -> Iterator[Span]:
        page_size, size = self._file.layout().page_size, self._file.size()
        for number in sorted(numbers):
            begin = (number - 1) * page_size
            if begin + page_size <= size:
                for start, end in spans_in_use_of_nobody(self._file.read(begin, page_size), 0, page_size):
                    yield begin + start, begin + end

    def _make_others_forget(self) -> None:
        """A commit makes every other connection read its pages again before it writes. This one read none before that
        could have old bytes."""
        self._lock.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_SCRUBBED, time.time_ns()))
        self._lock.execute("COMMIT")
