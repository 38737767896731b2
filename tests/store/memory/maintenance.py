"""Dropping what is over. What was removed takes no room here, so that there is nothing to do for size."""

from __future__ import annotations

import pickle
from collections.abc import Sequence

from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol.maintenance import Level, MaintenanceStep, StoreSize
from tests.store.memory.substore import SubStore


class Maintenance(SubStore):
    def size(self) -> StoreSize:
        size = len(pickle.dumps(self._state.tables))
        return StoreSize(size, size, 0)

    def forget_idempotency(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        gone = 0
        with self._state.writing_to(namespace) as space:
            for kept in space.sessions.values():
                if session_id in (None, kept.session.id) and (kept.session.updated_at or 0) < before:
                    gone += len(kept.appended)
                    kept.appended.clear()
        return gone

    def collapse_changes(self, namespace: Namespace, session_id: SessionId | None, *, before: int) -> int:
        with self._state.writing_to(namespace) as space:
            newest = {(change.kind, change.ref): change.seq for change in space.changes}
            stay = [
                change
                for change in space.changes
                if change.at >= before
                or session_id not in (None, change.ref)
                or newest[change.kind, change.ref] == change.seq
            ]
            gone = len(space.changes) - len(stay)
            space.changes = stay
        return gone

    def maintain(self, level: Level) -> Sequence[MaintenanceStep]:
        return []
