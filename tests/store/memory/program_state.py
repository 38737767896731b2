"""What programs keep beside sessions."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any

from ovillo.model.errors import NotFound
from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol import Shelf
from tests.store.memory import state
from tests.store.memory.substore import SubStore


class ProgramState(SubStore):
    def put(
        self,
        namespace: Namespace,
        session_id: SessionId,
        shelf: str,
        values: Mapping[str, Any],
        *,
        at: int,
        replace: bool = True,
    ) -> frozenset[str]:
        with self._state.writing_to(namespace) as space:
            if session_id not in space.sessions:
                raise NotFound(f"No session {session_id!r}.", hint="List sessions, or create it first.")
            found = space.sessions[session_id].shelves.setdefault(shelf, state.Shelf())
            written = {name: json.loads(json.dumps(value)) for name, value in values.items()}
            written = {name: value for name, value in written.items() if replace or name not in found.values}
            found.values.update(written)
            found.change(at)
            return frozenset(written)

    def names(self, namespace: Namespace, session_id: SessionId, shelf: str, prefix: str = "") -> list[str]:
        return [name for name in self._values(namespace, session_id, shelf) if name.startswith(prefix)]

    def get(
        self, namespace: Namespace, session_id: SessionId, shelf: str, names: Collection[str] | None = None
    ) -> dict[str, Any]:
        values = self._values(namespace, session_id, shelf)
        return {name: value for name, value in values.items() if names is None or name in names}

    def shelves(self, namespace: Namespace, prefix: str) -> list[Shelf]:
        found = [
            Shelf(session_id, name, shelf.changed_at)
            for session_id, kept in self._state.space(namespace).sessions.items()
            for name, shelf in kept.shelves.items()
            if name.startswith(prefix) and shelf.values
        ]
        return sorted(found, key=lambda each: (each.name, each.session_id))

    def remove(
        self, namespace: Namespace, session_id: SessionId, shelf: str, names: Collection[str] | None = None, *, at: int
    ) -> int:
        with self._state.writing() as tables:
            kept = tables.space(namespace).sessions.get(session_id)
            found = kept.shelves.get(shelf) if kept else None
            if found is None:
                return 0
            gone = [name for name in found.values if names is None or name in names]
            for name in gone:
                del found.values[name]
            if gone:
                found.change(at)
                tables.is_wipe_due |= names is None
            return len(gone)

    def _values(self, namespace: Namespace, session_id: SessionId, shelf: str) -> Mapping[str, Any]:
        kept = self._state.space(namespace).sessions.get(session_id)
        return kept.shelves[shelf].values if kept and shelf in kept.shelves else {}
