"""The condition of a store that nothing can damage."""

from __future__ import annotations

import pickle
from collections import Counter

from ovillo.model.coordination import StoreHealth
from ovillo.model.records import Namespace
from ovillo.store.protocol.condition import StoreCondition, StoreContent
from tests.store.memory.substore import SubStore


class Health(SubStore):
    def report(self, namespace: Namespace) -> StoreHealth:
        space = self._state.space(namespace)
        counts = {
            "sessions": len(space.sessions),
            "messages": sum(len(kept.messages) for kept in space.sessions.values()),
            "changes": space.last_change,
            "links": len(space.links),
            "tasks": len(space.tasks),
            "contextEntries": len(space.context_entries),
            "memories": len(space.memories),
        }
        return StoreHealth(1, len(pickle.dumps(self._state.tables)), (), counts)

    def probe_writer(self, timeout_s: float) -> bool:
        with self._state.writing():
            return True

    def quick_check(self) -> list[str]:
        return []

    def condition(self) -> StoreCondition:
        return StoreCondition(
            writer_alive=True,
            schema_current=True,
            queue_depth=0,
            commits=self._state.commits,
            commit_s=self._state.commit_s,
            size_bytes=len(pickle.dumps(self._state.tables)),
            unmerged_bytes=0,
        )

    def content(self) -> StoreContent:
        spaces = self._state.tables.spaces.values()
        sessions = [kept for space in spaces for kept in space.sessions.values()]
        redactions = Counter[str]()
        for space in spaces:
            for source in space.sources.values():
                redactions.update(source.redactions)
        return StoreContent(len(sessions), sum(len(kept.messages) for kept in sessions), dict(redactions))
