"""The SQLite store: one file, one writer thread, readers on connections of their own.

Owns writing: applying deltas, lineage, places, the derived indexes' upkeep. Reading is in the mixed-in modules.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from ovillo.model.clock import Clock, system_clock
from ovillo.model.records import Namespace, SessionDelta, SessionId, SkippedRecord
from ovillo.store.protocol import Analyzer, Applied
from ovillo.store.sqlite.anew import begin, end, recount
from ovillo.store.sqlite.changes import ChangeLog, log_changes
from ovillo.store.sqlite.classification import Classification
from ovillo.store.sqlite.connection import ReaderPool, is_read_only, open_unwritable
from ovillo.store.sqlite.forgetting import forget_mentions
from ovillo.store.sqlite.forgotten import not_forgotten
from ovillo.store.sqlite.keys import namespace_key
from ovillo.store.sqlite.merge import Merge
from ovillo.store.sqlite.prepare import Prepared, PreparedDelta, SqlitePreparation
from ovillo.store.sqlite.recording import RecordingWrites
from ovillo.store.sqlite.reindex import drop_from_index, index_again, put_back_in_index
from ovillo.store.sqlite.rows import from_json, to_json
from ovillo.store.sqlite.session_reads import SessionReads
from ovillo.store.sqlite.source_reads import SourceReads
from ovillo.store.sqlite.text_reads import TextReads
from ovillo.store.sqlite.totals import TotalsReads
from ovillo.store.sqlite.vector_store import VectorStore
from ovillo.store.sqlite.vocabulary import give_back_if_failed, learn
from ovillo.store.sqlite.writer import NoWriter, Writer

_TRIGRAM_BATCH = 50_000


if TYPE_CHECKING:
    from ovillo.store.sqlite.access_keys import AccessKeyTable
    from ovillo.store.sqlite.audit import AuditTable
    from ovillo.store.sqlite.code_index import CodeTables
    from ovillo.store.sqlite.code_vectors import CodeVectorTables
    from ovillo.store.sqlite.condition import Condition
    from ovillo.store.sqlite.contexts import ContextTables
    from ovillo.store.sqlite.entities import EntityTables
    from ovillo.store.sqlite.forgotten import ForgottenTables
    from ovillo.store.sqlite.health import HealthReads
    from ovillo.store.sqlite.importing import ImportWrites
    from ovillo.store.sqlite.knowledge import KnowledgeTables
    from ovillo.store.sqlite.links import LinkTables
    from ovillo.store.sqlite.snapshots import SnapshotTables
    from ovillo.store.sqlite.timesheet import TimesheetTables
    from ovillo.store.sqlite.upkeep import UpkeepWrites

    class _Late(
        AccessKeyTable,
        AuditTable,
        CodeTables,
        CodeVectorTables,
        Condition,
        ContextTables,
        EntityTables,
        ForgottenTables,
        HealthReads,
        ImportWrites,
        KnowledgeTables,
        LinkTables,
        SnapshotTables,
        TimesheetTables,
        UpkeepWrites,
    ):
        """Subjects that most starts do not ask for."""

else:

    class _Late:
        """Subjects that most starts do not ask for: their modules are read when something of theirs is first called
        (40 ms of a start)."""

        __slots__ = ()

        def __getattr__(self, name: str) -> Any:
            for table in _late_tables():
                if name in vars(table):
                    # From now on it is found as if it had been mixed in.
                    setattr(_Late, name, vars(table)[name])
                    return getattr(self, name)
            raise AttributeError(f"{type(self).__name__!r} has no attribute {name!r}")


#: Modules of ``_Late`` with their tables, those that are asked for soonest first.
_LATE = (
    ("entities", "EntityTables"),
    ("links", "LinkTables"),
    ("code_index", "CodeTables"),
    ("code_vectors", "CodeVectorTables"),
    ("knowledge", "KnowledgeTables"),
    ("forgotten", "ForgottenTables"),
    ("condition", "Condition"),
    ("health", "HealthReads"),
    ("access_keys", "AccessKeyTable"),
    ("audit", "AuditTable"),
    ("contexts", "ContextTables"),
    ("snapshots", "SnapshotTables"),
    ("timesheet", "TimesheetTables"),
    ("importing", "ImportWrites"),
    ("upkeep", "UpkeepWrites"),
)


def _late_tables() -> Iterator[type]:
    """One after the other, so that what is found early does not read the rest."""
    for module, name in _LATE:
        yield getattr(import_module(f"ovillo.store.sqlite.{module}"), name)


class SqliteStore(
    SessionReads,
    TotalsReads,
    SourceReads,
    TextReads,
    VectorStore,
    RecordingWrites,
    Classification,
    ChangeLog,
    _Late,
):
    """Implements ``ovillo.store.protocol.Store``."""

    def __init__(self, path: Path, analyzer: Analyzer, clock: Clock = system_clock) -> None:
        self.path = path
        self._analyzer = analyzer
        self._clock = clock
        if is_read_only(path):
            self._writer: Writer = NoWriter(path)
            self._pool = ReaderPool(path, open_unwritable)
        else:
            self._writer = Writer(path)
            self._pool = ReaderPool(path, check=self._writer.check)

    def close(self) -> None:
        # The last connection to close folds the write-ahead log into the file.
        standing = self._writer.standing
        self._pool.close(untouched=standing is not None and standing.is_broken)
        self._writer.close()

    # --- writing

    def apply(
        self,
        namespace: Namespace,
        deltas: Sequence[SessionDelta],
        *,
        place: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
    ) -> Applied:
        return self.submit(
            namespace,
            self.preparation().prepare(deltas),
            place=place,
            precedence=precedence,
            cursor=cursor,
            skipped=skipped,
            redactions=redactions,
        ).result()

    def preparation(self) -> SqlitePreparation:
        return SqlitePreparation(self._analyzer)

    def submit(
        self,
        namespace: Namespace,
        prepared: Prepared,
        *,
        place: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
        anew: Collection[SessionId] = (),
    ) -> Future[Applied]:
        """``apply`` of prepared deltas without waiting; the transaction runs on the writer's thread."""

        def work(db: apsw.Connection) -> Applied:
            key = namespace_key(db, namespace, self._analyzer)
            place_key = None if place is None else _place_key(db, key, *place)
            deltas = not_forgotten(db, key, prepared.deltas)
            begin(db, key, anew)
            applied = self._merge(db, namespace, key, place_key, precedence, deltas)
            # Forgotten while it was being read: it is looked at once more, and then left alone for good.
            if place_key is not None and len(deltas) == len(prepared.deltas):
                _move_cursor(db, place_key, cursor or {})
                _note_skipped(db, place_key, skipped)
                _count_redactions(db, place_key, redactions or {})
            learn(db, prepared.surfaces)
            return applied

        merging = self._writer.submit(work)
        give_back_if_failed(merging, self._analyzer, prepared.surfaces)
        return merging

    def _merge(
        self,
        db: apsw.Connection,
        namespace: Namespace,
        key: int,
        place_key: int | None,
        precedence: int,
        prepared: Sequence[PreparedDelta],
    ) -> Applied:
        merge = Merge(db, self._analyzer, namespace, key, place_key=place_key, precedence=precedence, now=self._clock())
        for delta in prepared:
            merge.add(delta)
        return merge.finish()

    def set_lineage(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        forked_from: SessionId,
        fork_point: str | None,
        inherited: Sequence[str],
    ) -> None:
        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            key, extra = db.execute(
                "SELECT key, extra FROM sessions WHERE namespace_key = ? AND id = ?", (ns, session_id)
            ).fetchone()
            merged = {**(from_json(extra) or {}), "fork_point": fork_point}
            db.execute(
                "UPDATE sessions SET kind = 'fork', forked_from = ?, extra = ? WHERE key = ?",
                (forked_from, to_json(merged), key),
            )
            drop_from_index(db, key, inherited, forked_from)
            put_back_in_index(db, self._analyzer, ns, forked_from, inherited)
            # What a fork copied is its origin's: its entities are found again in what is left.
            forget_mentions(db, key)
            recount(db, key)
            log_changes(db, ns, "session", [session_id], self._clock())

        self._writer.run(work)

    def clear_overlaps(self, namespace: Namespace, pairs: Sequence[tuple[SessionId, SessionId]]) -> None:
        """These pairs of sessions with equal messages have been decided."""

        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            db.executemany(
                "DELETE FROM overlaps WHERE namespace_key = ? AND session_a = ? AND session_b = ?",
                [(ns, *pair) for pair in pairs],
            )

        self._writer.run(work)

    def mark_deleted_at_source(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> None:
        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            for session_id in session_ids:
                db.execute(
                    "UPDATE sessions SET deleted_at_source = 1 WHERE namespace_key = ? AND id = ? AND NOT deleted_at_source",
                    (ns, session_id),
                )
                if db.changes():
                    log_changes(db, ns, "session", [session_id], self._clock())

        self._writer.run(work)

    def place_finished(
        self, namespace: Namespace, reader: str, path: str, layout: str, error: str | None, at: int
    ) -> None:
        def work(db: apsw.Connection) -> None:
            key = _place_key(db, namespace_key(db, namespace, self._analyzer), reader, path)
            db.execute(
                "UPDATE places SET layout = ?, error = ?, last_scan_at = ? WHERE key = ?", (layout, error, at, key)
            )

        self._writer.run(work)

    def end_anew(self, namespace: Namespace, reader: str, path: str) -> None:
        def work(db: apsw.Connection) -> None:
            key = namespace_key(db, namespace, self._analyzer)
            changed = end(db, _place_key(db, key, reader, path))
            log_changes(db, key, "session", changed, self._clock())

        self._writer.run(work)

    # --- upkeep of derived data

    def advance_trigrams(self) -> int:
        """Fill one batch of the trigram index; returns how many words still wait."""

        def work(db: apsw.Connection) -> int:
            row = db.execute("SELECT value FROM meta WHERE key = 'trigrams_through'").fetchone()
            done = int(row[0]) if row else 0
            last = db.execute(
                "SELECT max(key) FROM (SELECT key FROM vocabulary WHERE key > ? ORDER BY key LIMIT ?)",
                (done, _TRIGRAM_BATCH),
            ).fetchone()[0]
            if last is None:
                return 0
            db.execute(
                "INSERT INTO trigrams (rowid, surface) SELECT key, surface FROM vocabulary WHERE key > ? AND key <= ?",
                (done, last),
            )
            db.execute("INSERT OR REPLACE INTO meta VALUES ('trigrams_through', ?)", (last,))
            return int(db.execute("SELECT count(*) FROM vocabulary WHERE key > ?", (last,)).fetchone()[0])

        return self._writer.run(work)

    def index_is_current(self) -> bool:
        """Whether the text index was made by this analyzer."""
        with self._pool.reading() as db:
            row = db.execute("SELECT value FROM meta WHERE key = 'analyzer'").fetchone()
        return row is None or row[0] == self._analyzer.version

    def rebuild_index(self) -> None:
        """Make the text index again from the parts, after the analyzer changed."""
        self._writer.run(lambda db: index_again(db, self._analyzer))

    def secret(self, name: str) -> bytes:
        """32 random bytes kept under ``name``, made at first use (the key of redaction markers, of cursors ...)."""

        key = f"secret:{name}"
        with self._pool.reading() as reading:
            if row := reading.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone():
                return bytes(row[0])

        def work(db: apsw.Connection) -> bytes:
            db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (key, secrets.token_bytes(32)))
            return bytes(db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()[0])

        return self._writer.run(work)

    def quick_check(self) -> list[str]:
        """What SQLite finds wrong with the file; empty when it is sound."""
        with self._pool.reading() as db:
            rows = [row[0] for row in db.execute("PRAGMA quick_check(10)")]
        return [] if rows == ["ok"] else rows


def _place_key(db: apsw.Connection, namespace_key: int, reader: str, path: str) -> int:
    db.execute(
        "INSERT OR IGNORE INTO places (namespace_key, reader, path) VALUES (?, ?, ?)", (namespace_key, reader, path)
    )
    row = db.execute(
        "SELECT key FROM places WHERE namespace_key = ? AND reader = ? AND path = ?", (namespace_key, reader, path)
    ).fetchone()
    return int(row[0])


def _move_cursor(db: apsw.Connection, place_key: int, cursor: Mapping[str, Any]) -> None:
    for key, value in cursor.items():
        if value is None:
            db.execute("DELETE FROM cursors WHERE place_key = ? AND key = ?", (place_key, key))
        else:
            db.execute("INSERT OR REPLACE INTO cursors VALUES (?, ?, ?)", (place_key, key, to_json(value)))


def _note_skipped(db: apsw.Connection, place_key: int, skipped: Sequence[SkippedRecord]) -> None:
    db.executemany(
        "INSERT OR REPLACE INTO skipped VALUES (?, ?, ?, ?)",
        [(place_key, item.file, item.position, item.reason) for item in skipped],
    )


def _count_redactions(db: apsw.Connection, place_key: int, counts: Mapping[str, int]) -> None:
    if not counts:
        return
    old = from_json(db.execute("SELECT redactions FROM places WHERE key = ?", (place_key,)).fetchone()[0]) or {}
    merged = {kind: old.get(kind, 0) + counts.get(kind, 0) for kind in {*old, *counts}}
    db.execute("UPDATE places SET redactions = ? WHERE key = ?", (to_json(merged), place_key))
