"""Vectors of memories. One that was made of other words than the memory has now is none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ovillo.model.errors import InvalidInput
from ovillo.model.memories import Memory, MemoryFilter, MemoryId, embedded_text
from ovillo.model.records import Namespace
from ovillo.store.forms import Row, Rows
from tests.store.memory.memories import fits
from tests.store.memory.state import Space
from tests.store.memory.substore import SubStore


class MemoryVectors(SubStore):
    def not_embedded(self, namespace: Namespace, model: str, where: MemoryFilter, limit: int) -> list[Memory]:
        space = self._state.space(namespace)
        done = dict(_held(space, model))
        waiting = [each for each in _eligible(space, where) if each.id not in done]
        return sorted(waiting, key=lambda each: (each.created_at, each.id), reverse=True)[:limit]

    def share(self, namespace: Namespace, model: str, where: MemoryFilter) -> tuple[int, int]:
        space = self._state.space(namespace)
        done, eligible = dict(_held(space, model)), [each.id for each in _eligible(space, where)]
        return sum(each in done for each in eligible), len(eligible)

    def put(self, namespace: Namespace, model: str, rows: Sequence[tuple[Memory, Rows]]) -> None:
        with self._state.writing_to(namespace) as space:
            kept = space.memory_vectors.setdefault(model, {})
            for memory, vectors in rows:
                known = next((each.shape[1] for _, each in kept.values()), vectors.shape[1])
                if known != vectors.shape[1]:
                    raise InvalidInput(
                        f"The model {model} gives vectors of {vectors.shape[1]} numbers, and those that are kept have {known}.",
                        hint="Vectors of two models cannot be compared: give the model another name in the settings.",
                    )
                kept[memory.id] = embedded_text(memory), vectors

    def nearest(
        self, namespace: Namespace, model: str, vector: Row, where: MemoryFilter, limit: int
    ) -> dict[MemoryId, float]:
        inside = [each.id for each in _eligible(self._state.space(namespace), where)]
        near = self.cosines(namespace, model, vector, inside)
        return dict(sorted(near.items(), key=lambda item: (-item[1], item[0]))[:limit])

    def cosines(self, namespace: Namespace, model: str, vector: Row, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
        held = _held(self._state.space(namespace), model)
        return {
            name: float((rows @ vector).max()) for name, rows in held if name in ids and rows.shape[1] == len(vector)
        }


def _eligible(space: Space, where: MemoryFilter) -> Iterator[Memory]:
    return (each for each in space.memories.values() if each.text and fits(each, where))


def _held(space: Space, model: str) -> Iterator[tuple[MemoryId, Rows]]:
    for name, (said, rows) in space.memory_vectors.get(model, {}).items():
        if name in space.memories and embedded_text(space.memories[name]) == said:
            yield MemoryId(name), rows
