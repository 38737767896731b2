"""Memories of all layers, and procedures that run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from ovillo.model.characters import whole
from ovillo.model.memories import (
    Audience,
    Layer,
    Memory,
    MemoryFilter,
    MemoryId,
    MemoryState,
    ProcedureRun,
    RunId,
    searched_text,
)
from ovillo.model.records import Namespace
from ovillo.store.term_weights import term_weight
from tests.store.memory.state import Space
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Memories(SubStore):
    def put(self, namespace: Namespace, memories: Sequence[Memory]) -> None:
        kept = [stored(each) for each in memories]
        if not kept:
            return
        with self._state.writing_to(namespace) as space:
            space.memories |= {each.id: each for each in kept}
            space.log("memory", [each.id for each in kept], max(each.updated_at for each in kept))

    def get(self, namespace: Namespace, memory_id: MemoryId) -> Memory | None:
        return self._state.space(namespace).memories.get(whole(memory_id))

    def find(
        self, namespace: Namespace, where: MemoryFilter, limit: int, after: tuple[int, str] | None = None
    ) -> list[Memory]:
        found = [each for each in self._state.space(namespace).memories.values() if fits(each, where)]
        found.sort(key=_time, reverse=True)
        return [each for each in found if after is None or _time(each) < after][:limit]

    def matching(self, namespace: Namespace, terms: Sequence[str], where: MemoryFilter, limit: int) -> list[Memory]:
        memories = self._state.space(namespace).memories.values()
        held = {each.id: set(self._state.analyzer.index_terms(searched_text(each))[0].split()) for each in memories}
        weights = {
            term: term_weight(len(held), holding)
            for term in set(map(whole, terms))
            if (holding := sum(term in each for each in held.values()))
        }

        def score(memory: Memory) -> float:
            return round(sum(weight for term, weight in weights.items() if term in held[memory.id]), 9)

        found = [each for each in memories if score(each) and fits(each, where)]
        return sorted(found, key=lambda each: (score(each), *_time(each)), reverse=True)[:limit]

    def frequencies(self, namespace: Namespace, terms: Sequence[str]) -> tuple[Mapping[str, int], int]:
        memories = self._state.space(namespace).memories.values()
        held = [set(self._state.analyzer.index_terms(searched_text(each))[0].split()) for each in memories]
        return {term: sum(term in each for each in held) for term in map(whole, terms)}, len(held)

    def note_used(self, namespace: Namespace, memory_ids: Sequence[MemoryId], *, at: int) -> None:
        with self._state.writing_to(namespace) as space:
            for name in set(memory_ids) & space.memories.keys():
                memory = space.memories[name]
                space.memories[name] = replace(memory, uses=memory.uses + 1, used_at=at)

    def remove(self, namespace: Namespace, memory_ids: Sequence[MemoryId], *, at: int) -> int:
        return self._drop(namespace, lambda memory: memory.id in memory_ids, at)

    def prune(self, namespace: Namespace, *, at: int) -> int:
        return self._drop(namespace, lambda memory: not memory.is_alive(at), at)

    def counts(self, namespace: Namespace) -> Mapping[tuple[Layer, MemoryState], int]:
        return dict(Counter((each.layer, each.state) for each in self._state.space(namespace).memories.values()))

    # --- procedures that run

    def put_run(self, namespace: Namespace, run: ProcedureRun) -> None:
        with self._state.writing_to(namespace) as space:
            space.procedure_runs[whole(run.id)] = stored(run)

    def run(self, namespace: Namespace, run_id: RunId) -> ProcedureRun | None:
        return self._state.space(namespace).procedure_runs.get(whole(run_id))

    def runs(self, namespace: Namespace, limit: int) -> list[ProcedureRun]:
        runs = self._state.space(namespace).procedure_runs.values()
        return sorted(runs, key=lambda run: (run.updated_at, run.id), reverse=True)[:limit]

    def _drop(self, namespace: Namespace, goes: Callable[[Memory], bool], at: int) -> int:
        with self._state.writing() as tables:
            gone = _drop(tables.space(namespace), goes, at)
            tables.is_wipe_due |= gone > 0
            return gone


def drop_memories_of(space: Space, session_id: str, at: int) -> int:
    return _drop(space, lambda memory: memory.provenance.session_id == whole(session_id), at)


def _drop(space: Space, goes: Callable[[Memory], bool], at: int) -> int:
    gone = [each.id for each in space.memories.values() if goes(each)]
    for name in gone:
        del space.memories[name]
        for held in space.memory_vectors.values():
            held.pop(name, None)
    space.log("memory", gone, at)
    return len(gone)


def _time(memory: Memory) -> tuple[int, str]:
    return memory.created_at, memory.id


def fits(memory: Memory, where: MemoryFilter) -> bool:
    of = memory.provenance
    several = (
        (where.layers, memory.layer),
        (where.states, memory.state),
        (where.kinds, memory.kind),
        (tuple(map(whole, where.keys)), memory.key),
        (where.ids, memory.id),
    )
    single = (
        (where.digest, memory.digest),
        (where.session_id, of.session_id),
        (where.origin, of.origin),
        (where.source, of.source),
        (where.author, of.author),
        (where.project, memory.project),
    )
    return (
        all(not wanted or value in wanted for wanted, value in several)
        and all(wanted is None or value == wanted for wanted, value in single)
        and set(where.tags) <= set(memory.tags)
        and (where.viewer is None or memory.audience is not Audience.PERSONAL or of.owner == where.viewer)
        and (where.alive_at is None or memory.is_alive(where.alive_at))
    )
