"""Type and status of mirrored sessions in the tables."""

from __future__ import annotations

import apsw

from ovillo.model.live import NATIVE
from ovillo.model.records import Namespace, SessionId, SessionStatus, SessionType
from ovillo.store.sqlite.core import SubStore
from ovillo.store.sqlite.keys import namespace_key


class Classification(SubStore):
    def unclassified(self, namespace: Namespace, idle_since: int, limit: int) -> list[SessionId]:
        with self._pool.reading() as db:
            rows = db.execute(
                "SELECT id FROM sessions WHERE namespace_key = (SELECT key FROM namespaces WHERE name = ?)"
                " AND source <> ? AND (classified_at <= coalesce(updated_at, 0) OR classified_at = 0"
                " OR (status = 'active' AND updated_at < ? AND classified_at < ?)) AND message_count > 0"
                " ORDER BY updated_at DESC LIMIT ?",
                (namespace, NATIVE, idle_since, idle_since, limit),
            ).fetchall()
        return [SessionId(row[0]) for row in rows]

    def classify(
        self, namespace: Namespace, found: list[tuple[SessionId, SessionType, SessionStatus]], *, at: int
    ) -> None:
        def work(db: apsw.Connection) -> None:
            ns = namespace_key(db, namespace, self._analyzer)
            db.executemany(
                "UPDATE sessions SET type = coalesce(?, type), classified_at = max(?, coalesce(updated_at, 0) + 1),"
                " status = CASE WHEN status = 'archived' OR (status = 'completed' AND classified_at = 0) THEN status"
                " ELSE ? END"
                " WHERE namespace_key = ? AND id = ?",
                [(kind.value, at, status.value, ns, session_id) for session_id, kind, status in found],
            )

        self._writer.run(work)
