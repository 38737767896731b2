"""Making the file smaller: dropping what nobody can miss, folding the log, rewriting the file.

Owns the SQL of ``ovillo.store.protocol.maintenance``. Steps on the whole file use their own connection, because the
writer's is always inside a transaction; writers of all processes wait meanwhile.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import apsw

from ovillo.model.errors import StoreUnavailable
from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol.maintenance import Level, MaintenanceStep, StepLeftOut, StoreSize
from ovillo.store.sqlite.connection import open_writer
from ovillo.store.sqlite.core import SubStore
from ovillo.store.sqlite.faults import explained
from ovillo.store.sqlite.keys import namespace_key
from ovillo.store.sqlite.scrubbing import CannotScrub, scrub

#: How long to wait for a reader before the log is left as it is (seconds), and how long writers wait for one try
#: (milliseconds).
_PATIENCE_S, _TRY_MS = 2.0, 50
#: Rewriting needs a copy and a log of the same size beside the file, and others need the rest of the disk.
_COPIES = 2
#: Pages of the index that one step writes; a step that changes fewer rows was the last; pause between two steps
#: (seconds).
_STEP_PAGES, _MERGED, _GIVE_WAY_S = 300, 2, 0.02
_SPARE_BYTES = 64 * 1024 * 1024
#: Rewriting writes the whole file: not worth it to free less than this share.
_WORTH_REWRITING = 0.05


class Maintenance(SubStore):
    def size(self) -> StoreSize:
        with self._pool.reading() as db:
            page, pages, free = (
                int(db.execute(f"PRAGMA {name}").fetchone()[0])
                for name in ("page_size", "page_count", "freelist_count")
            )
        disk = sum(path.stat().st_size for path in (self._path, _log(self._path)) if path.exists())
        return StoreSize(disk, (pages - free) * page, free * page)

    def forget_idempotency(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        return self._delete(
            namespace,
            "DELETE FROM idempotency WHERE session_key IN (SELECT key FROM sessions WHERE namespace_key = ?1"
            " AND (?2 IS NULL OR id = ?2) AND coalesce(updated_at, 0) < ?3)",
            (session_id, before),
        )

    def collapse_changes(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        return self._delete(
            namespace,
            "DELETE FROM changes WHERE namespace_key = ?1 AND at < ?3 AND (?2 IS NULL OR ref = ?2) AND seq NOT IN"
            " (SELECT max(seq) FROM changes WHERE namespace_key = ?1 AND (?2 IS NULL OR ref = ?2) GROUP BY kind, ref)",
            (session_id, before),
        )

    def _delete(self, namespace: Namespace, sql: str, bound: tuple[object, ...]) -> int:
        def work(db: apsw.Connection) -> int:
            db.execute(sql, (namespace_key(db, namespace, self._analyzer), *bound))
            return int(db.changes())

        return self._writer.run(work)

    def maintain(self, level: Level) -> Sequence[MaintenanceStep]:
        steps = [MaintenanceStep("log", self._log_folded, touches_everything=False)]
        if level == "aggressive":
            whole = (MaintenanceStep("index", self._index_merged), MaintenanceStep("file", self._file_rewritten))
            steps = [*whole, *steps]
        return steps

    def _index_merged(self) -> str:
        self.merge_index()
        return "the text index is in one piece"

    def _file_rewritten(self) -> str:
        size = self.size()
        if size.free < size.used * _WORTH_REWRITING:
            raise StepLeftOut(f"only {size.free:,} bytes are free inside the file: not worth writing it anew")
        self.rewrite_file()
        return "the file is written anew without free space"

    def _log_folded(self) -> str:
        if not self.fold_log():
            raise StepLeftOut("somebody is reading: the write-ahead log stays for now")
        return "the write-ahead log is folded into the file"

    def merge_index(self) -> None:
        """Merges each full-text index into one piece, without deleted entries: in steps, since it takes seconds for a
        million messages and others write meanwhile."""

        def work(db: apsw.Connection, index: str, pages: int) -> bool:
            before = int(db.total_changes())
            db.execute(f"INSERT INTO {index} ({index}, rank) VALUES ('merge', ?)", (pages,))
            # FTS5: a merge that changes fewer than two rows found nothing to do.
            return int(db.total_changes()) - before >= _MERGED

        for index in ("fts", "trigrams", "code_words", "knowledge_fts", "memory_fts"):
            # A negative number begins a merge of everything; positive ones continue it.
            pages = -_STEP_PAGES
            while self._writer.run(partial(work, index=index, pages=pages)):
                pages = _STEP_PAGES
                time.sleep(_GIVE_WAY_S)

    def fold_log(self) -> bool:
        """Moves the write-ahead log into the file and truncates it. False when a reader prevented that."""
        give_up = time.monotonic() + _PATIENCE_S
        with _own_connection(self._path) as db:
            # Truncating keeps writers waiting, also while it waits for readers: so most of it before, and in short tries.
            db.set_busy_timeout(_TRY_MS)
            while True:
                db.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
                if int(db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]) == 0:
                    return True
                if time.monotonic() > give_up:
                    return False
                time.sleep(_GIVE_WAY_S)

    def scrub_file(self) -> bool:
        """Zeroes what removed rows left in the file while others write; a file that this cannot be done to is written
        anew. False when a reader prevented it. Raises StoreUnavailable, StoreChanged."""
        try:
            with explained(self._path):
                return scrub(self._path)
        except CannotScrub:
            self.rewrite_file()
            return True

    def rewrite_file(self) -> None:
        """Rewrites the file without its free space. Raises StoreUnavailable when there is no room for the copy."""
        needed = _COPIES * self._path.stat().st_size + _SPARE_BYTES
        left = shutil.disk_usage(self._path.parent).free
        if left < needed:
            raise StoreUnavailable(
                f"Rewriting {self._path} needs {needed:,} bytes beside it, and {left:,} are left.",
                hint="Free some disk space; nothing was changed.",
            )
        with _own_connection(self._path) as db:
            db.execute("VACUUM")


@contextmanager
def _own_connection(path: Path) -> Iterator[apsw.Connection]:
    connection = open_writer(path)
    try:
        with explained(path, connection):
            yield connection
    finally:
        connection.close()


def _log(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")
