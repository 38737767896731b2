"""Named sets of keys and values."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from ovillo.model.characters import whole
from ovillo.model.coordination import ContextEntry, ContextSwitch
from ovillo.model.records import Namespace
from tests.store.memory.state import Space
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Contexts(SubStore):
    def put(self, namespace: Namespace, entry: ContextEntry) -> None:
        entry = stored(entry)
        with self._state.writing_to(namespace) as space:
            _prune(space, entry.stored_at)
            space.context_entries[entry.context, entry.key] = entry
            space.log("context", [f"{entry.context}/{entry.key}"], entry.stored_at)

    def get(self, namespace: Namespace, context: str, key: str) -> ContextEntry | None:
        return self._state.space(namespace).context_entries.get((whole(context), whole(key)))

    def entries(self, namespace: Namespace, context: str, *, at: int, limit: int = 1_000) -> list[ContextEntry]:
        found = [entry for entry in _alive(self._state.space(namespace), at) if entry.context == whole(context)]
        return sorted(found, key=lambda entry: entry.key)[:limit]

    def remove(self, namespace: Namespace, context: str, key: str, *, at: int) -> bool:
        with self._state.writing_to(namespace) as space:
            entry = space.context_entries.get((whole(context), whole(key)))
            return entry is not None and _drop(space, [entry], at) > 0

    def counts(self, namespace: Namespace, *, at: int) -> dict[str, int]:
        return dict(Counter(entry.context for entry in _alive(self._state.space(namespace), at)))

    def current(self, namespace: Namespace, caller: str) -> str | None:
        return self._state.space(namespace).current_contexts.get(whole(caller))

    def switch(
        self, namespace: Namespace, caller: str, target: str, *, default: str, preserve: bool, at: int
    ) -> ContextSwitch:
        caller, target = whole(caller), whole(target)
        with self._state.writing_to(namespace) as space:
            leaving = space.current_contexts.get(caller, default)
            alive = _alive(space, at)
            whole_one = [entry for entry in alive if (entry.context, entry.key) == (leaving, target)]
            if whole_one and not any(entry.context == target for entry in alive):
                space.context_entries[target, target] = replace(whole_one[0], context=target)
            own = [x for x in space.context_entries.values() if x.context == leaving and x.owner == caller]
            dropped = 0 if preserve or leaving == target else _drop(space, own, at)
            space.current_contexts[caller] = target
            if leaving != target:
                space.log("context", [target], at)
            count = sum(entry.context == target for entry in _alive(space, at))
            return ContextSwitch(leaving, target, count > 0, count, dropped)

    def prune(self, namespace: Namespace, *, at: int) -> int:
        with self._state.writing_to(namespace) as space:
            return _prune(space, at)


def _alive(space: Space, at: int) -> list[ContextEntry]:
    return [entry for entry in space.context_entries.values() if entry.expires_at is None or entry.expires_at > at]


def _prune(space: Space, at: int) -> int:
    alive = _alive(space, at)
    return _drop(space, [entry for entry in space.context_entries.values() if entry not in alive], at)


def _drop(space: Space, entries: list[ContextEntry], at: int) -> int:
    for entry in entries:
        del space.context_entries[entry.context, entry.key]
        space.log("context", [f"{entry.context}/{entry.key}"], at)
    return len(entries)
