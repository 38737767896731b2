"""Marks of what was removed for good, sessions that are not read, and erasing what a removal left in the file.

Owns the SQL of ``ovillo.store.protocol.forgetting``; ``forgetting`` removes sessions from the tables.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import apsw

from ovillo.model.errors import Conflict, StoreUnavailable
from ovillo.model.records import Namespace, Session, SessionId
from ovillo.model.timeouts import BACKGROUND_S, patient
from ovillo.model.tombstones import At, Forgettable, Tombstone, is_covered, mark_of
from ovillo.store.protocol import Traces
from ovillo.store.sqlite.changes import log_changes
from ovillo.store.sqlite.core import Core, SubStore
from ovillo.store.sqlite.forgetting import leave
from ovillo.store.sqlite.keys import namespace_key, session_key
from ovillo.store.sqlite.leases import Leases
from ovillo.store.sqlite.leaving import WIPE_DUE, Leaving, LeavingSessions
from ovillo.store.sqlite.rows import to_json

if TYPE_CHECKING:
    from ovillo.store.sqlite.maintenance import Maintenance
    from ovillo.store.sqlite.prepare import PreparedDelta

_NS = "(SELECT key FROM namespaces WHERE name = ?)"
_KEY = "secret:forgetting"
_LEASE = "wiping"
_CHOSEN = "SELECT s.key FROM json_each(?2) j CROSS JOIN sessions s ON s.id = j.value WHERE s.namespace_key = ?1"


class ForgottenTables(SubStore):
    def __init__(self, core: Core, maintenance: Maintenance) -> None:
        super().__init__(core)
        self._maintenance = maintenance
        self._leaving = LeavingSessions(core)
        self._leases = Leases(core)

    def traces(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> Traces:
        with self._pool.reading() as db, db:
            ns = (db.execute(f"SELECT {_NS}", (namespace,)).fetchone() or (None,))[0]
            given = (ns, to_json(list(session_ids)))
            ids = "(SELECT value FROM json_each(?2))"
            counted = db.execute(
                "SELECT count(*), coalesce(sum(message_count), 0), coalesce(sum(part_count), 0) FROM sessions"
                f" WHERE key IN ({_CHOSEN})",
                given,
            ).fetchone()
            others = [
                db.execute(f"SELECT count(*) FROM {sql}", given).fetchone()[0]
                for sql in (
                    f"summaries WHERE session_key IN ({_CHOSEN})",
                    f"snapshots WHERE session_key IN ({_CHOSEN})",
                    f"links WHERE from_key IN ({_CHOSEN}) OR to_key IN ({_CHOSEN})",
                    f"tasks WHERE namespace_key = ?1 AND session_id IN {ids}",
                    f"sessions WHERE namespace_key = ?1 AND forked_from IN {ids} AND id NOT IN {ids}",
                    f"memories WHERE namespace_key = ?1 AND session_id IN {ids}",
                )
            ]
        return Traces(*map(int, counted), *map(int, others))

    def forget_session(
        self, namespace: Namespace, session_id: SessionId, *, at: int, part_of: Tombstone | None = None
    ) -> bool:
        from ovillo.store.sqlite.memories import drop_memories_of  # start-up cost (4 ms): a scan imports this

        def work(db: apsw.Connection) -> Leaving | None:
            ns = namespace_key(db, namespace, self._analyzer)
            mark = mark_of(_made_key(db), Forgettable.SESSION, session_id)
            _put(db, ns, Forgettable.SESSION, mark, at, part_of.mark if part_of else None)
            drop_memories_of(db, ns, session_id, at)
            key = session_key(db, ns, session_id)
            if key is None:
                return None
            leaving = leave(db, ns, key)
            # Readers of the change log fetch the list again; the id must not be stored.
            log_changes(db, ns, "session_deleted", [f"forgotten:{mark.hex()}"], at)
            return leaving

        leaving = self._writer.run(work)
        if leaving is None:
            return False
        self._leaving.finish(leaving)
        return True

    def put_tombstone(self, namespace: Namespace, tombstone: Tombstone) -> None:
        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            _put(db, ns, tombstone.kind, tombstone.mark, tombstone.at, None)

        self._writer.run(work)

    def forget_tasks(self, namespace: Namespace, directory: str) -> int:
        def work(db: apsw.Connection) -> int:
            ns = namespace_key(db, namespace, self._analyzer)
            db.execute(
                "DELETE FROM tasks WHERE namespace_key = ?1 AND"
                " (directory = ?2 OR substr(directory, 1, length(?2) + 1) = ?2 || '/')",
                (ns, directory),
            )
            if gone := db.changes():
                db.execute("INSERT OR REPLACE INTO meta VALUES (?, 1)", (WIPE_DUE,))
            return int(gone)

        return self._writer.run(work)

    def tombstones(self, namespace: Namespace) -> list[Tombstone]:
        with self._pool.reading() as db:
            rows = db.execute(
                "SELECT f.kind, f.mark, f.at, (SELECT count(*) FROM forgotten w WHERE w.namespace_key = f.namespace_key"
                " AND w.part_of = f.mark) FROM forgotten f WHERE f.part_of IS NULL AND"
                f" f.namespace_key = {_NS} ORDER BY f.at DESC, f.mark",
                (namespace,),
            ).fetchall()
        return [Tombstone(Forgettable(kind), mark, at, sessions) for kind, mark, at, sessions in rows]

    def all_marks(self, namespace: Namespace) -> Mapping[str, Mapping[bytes, int]]:
        with self._pool.reading() as db:
            rows = db.execute(f"SELECT kind, mark, at FROM forgotten WHERE namespace_key = {_NS}", (namespace,))
            marks: dict[str, dict[bytes, int]] = {}
            for kind, mark, at in rows:
                marks.setdefault(kind, {})[mark] = at
        return marks

    def lift_tombstones(self, namespace: Namespace, marks: Sequence[bytes], dropping: Sequence[str] = ()) -> int:
        def work(db: apsw.Connection) -> int:
            ns = namespace_key(db, namespace, self._analyzer)
            gone = 0
            for mark in marks:
                db.execute("DELETE FROM forgotten WHERE namespace_key = ?1 AND ?2 IN (mark, part_of)", (ns, mark))
                gone += db.changes()
            for (source,) in db.execute("SELECT key FROM places WHERE namespace_key = ?", (ns,)).fetchall():
                _read_again(db, source, dropping)
            return gone

        return self._writer.run(work)

    def key(self) -> bytes | None:
        with self._pool.reading() as db:
            return _key(db)

    # --- what removed rows left in the file

    def wipe_is_due(self) -> bool:
        with self._pool.reading() as db:
            return db.execute("SELECT 1 FROM meta WHERE key = ?", (WIPE_DUE,)).fetchone() is not None

    def wipe(self) -> str | None:
        if not self.wipe_is_due():
            return None
        # Two at once would wait for each other's readers; what one has done, the next finds done.
        with patient(), self._leases.hold(_LEASE, BACKGROUND_S) as ours:
            if not ours:
                return "Another process is erasing removed text."
            return self._wipe() if self.wipe_is_due() else None

    def _wipe(self) -> str | None:
        self._leaving.finish_all()
        # What is removed from here on is not covered, and puts down 1 again.
        began = time.time_ns()
        self._writer.run(lambda db: db.execute("UPDATE meta SET value = ? WHERE key = ?", (began, WIPE_DUE)) and None)
        # Deleted terms stay in the index's segments until these are merged.
        self._maintenance.merge_index()
        try:
            if not self._maintenance.scrub_file() or not self._maintenance.fold_log():
                return "Another process is reading: the write-ahead log still holds removed text."
        except StoreUnavailable as error:
            return error.message
        done = "DELETE FROM meta WHERE key = ? AND value = ?"
        self._writer.run(lambda db: db.execute(done, (WIPE_DUE, began)) and None)
        return None

    # --- what is not read

    def excluded(self, namespace: Namespace) -> dict[tuple[str, str], dict[str, tuple[bytes, int]]]:
        with self._pool.reading() as db:
            rows = db.execute(
                "SELECT p.reader, p.path, e.rule, e.said, count(*) FROM excluded e JOIN places p ON p.key = e.place_key"
                f" WHERE p.namespace_key = {_NS} AND e.rule <> '' GROUP BY 1, 2, 3 ORDER BY 3",
                (namespace,),
            ).fetchall()
        found: dict[tuple[str, str], dict[str, tuple[bytes, int]]] = {}
        for reader, path, rule, digest, count in rows:
            found.setdefault((reader, path), {})[rule] = (digest, count)
        return found

    def excluded_marks(self, namespace: Namespace, reader: str, path: str) -> dict[bytes, tuple[str, bytes]]:
        with self._pool.reading() as db:
            rows = db.execute(
                "SELECT e.mark, e.rule, e.said FROM excluded e JOIN places p ON p.key = e.place_key"
                f" WHERE p.namespace_key = {_NS} AND p.reader = ? AND p.path = ?",
                (namespace, reader, path),
            ).fetchall()
        return {mark: (rule, digest) for mark, rule, digest in rows}

    def note_excluded(
        self, namespace: Namespace, reader: str, path: str, found: Sequence[tuple[str, bytes, bytes]]
    ) -> None:
        def work(db: apsw.Connection) -> None:
            source = _place(db, namespace_key(db, namespace, self._analyzer), reader, path)
            if source is not None:
                db.executemany(
                    "INSERT OR REPLACE INTO excluded VALUES (?, ?, ?, ?)",
                    [(source, rule, mark, digest) for rule, digest, mark in found],
                )

        self._writer.run(work)

    def read_source_again(self, namespace: Namespace, reader: str, path: str, dropping: Sequence[str] = ()) -> None:
        def work(db: apsw.Connection) -> None:
            source = _place(db, namespace_key(db, namespace, self._analyzer), reader, path)
            if source is not None:
                _read_again(db, source, dropping)

        self._writer.run(work)


def not_forgotten(db: apsw.Connection, ns: int, deltas: Sequence[PreparedDelta]) -> Sequence[PreparedDelta]:
    """Decided inside the writing transaction: whoever read them before they were forgotten brings nothing back."""
    covers = _Covers(db, ns)
    return [delta for delta in deltas if not covers.session(delta.session)] if covers.kinds else deltas


def check_not_forgotten(db: apsw.Connection, ns: int, session: Session) -> None:
    """Raises Conflict for an id that was removed for good."""
    covers = _Covers(db, ns)
    if Forgettable.SESSION in covers.kinds and covers.session(session, {Forgettable.SESSION}):
        raise Conflict(
            f"The session {session.id!r} was forgotten for good.",
            hint="Use another id, or allow it again with `ovillo forget undo`.",
        )


class _Covers:
    def __init__(self, db: apsw.Connection, ns: int) -> None:
        self._db = db
        self._ns = ns
        rows = db.execute("SELECT DISTINCT kind FROM forgotten WHERE namespace_key = ?", (ns,)).fetchall()
        self.kinds = {Forgettable(kind) for (kind,) in rows}
        self._key = (_key(db) or b"") if self.kinds else b""

    def session(self, session: Session, kinds: set[Forgettable] | None = None) -> bool:
        at: At = self._at
        return is_covered(session, self._key, kinds or self.kinds, at)

    def _at(self, kind: Forgettable, mark: bytes) -> int | None:
        row = self._db.execute(
            "SELECT at FROM forgotten WHERE namespace_key = ? AND kind = ? AND mark = ?", (self._ns, kind.value, mark)
        ).fetchone()
        return None if row is None else int(row[0])


def _put(db: apsw.Connection, ns: int, kind: Forgettable, mark: bytes, at: int, part_of: bytes | None) -> None:
    db.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?, ?, ?, ?)", (ns, kind.value, mark, at, part_of))


def _key(db: apsw.Connection) -> bytes | None:
    row = db.execute("SELECT value FROM meta WHERE key = ?", (_KEY,)).fetchone()
    return None if row is None else bytes(row[0])


def _made_key(db: apsw.Connection) -> bytes:
    db.execute("INSERT OR IGNORE INTO meta VALUES (?, ?)", (_KEY, secrets.token_bytes(32)))
    key: Any = _key(db)
    return bytes(key)


def _place(db: apsw.Connection, ns: int, reader: str, path: str) -> int | None:
    row = db.execute(
        "SELECT key FROM places WHERE namespace_key = ? AND reader = ? AND path = ?", (ns, reader, path)
    ).fetchone()
    return None if row is None else int(row[0])


def _read_again(db: apsw.Connection, source: int, dropping: Sequence[str]) -> None:
    for prefix in dropping:
        db.execute("DELETE FROM cursors WHERE place_key = ?1 AND substr(key, 1, length(?2)) = ?2", (source, prefix))
    db.execute("DELETE FROM excluded WHERE place_key = ?", (source,))
