"""Memories of all layers, found by what they say, and procedures that run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from ovillo.model.memories import Layer, Memory, MemoryFilter, MemoryId, MemoryState, ProcedureRun, RunId
from ovillo.model.records import Namespace


class MemoriesStore(Protocol):
    def put(self, namespace: Namespace, memories: Sequence[Memory]) -> None:
        """Keep them, each in place of the one with its id; all or none. Ids and times stay as they are given."""
        ...

    def get(self, namespace: Namespace, memory_id: MemoryId) -> Memory | None:
        """As it is kept, whatever its state and time."""
        ...

    def find(
        self, namespace: Namespace, where: MemoryFilter, limit: int, after: tuple[int, str] | None = None
    ) -> list[Memory]:
        """Those that fit, newest first by ``(created_at, id)``; ``after`` is that of the last one given before."""
        ...

    def matching(self, namespace: Namespace, terms: Sequence[str], where: MemoryFilter, limit: int) -> list[Memory]:
        """Those that fit and hold any of the terms (of the analyzer), best first: the sum of ``term_weight`` over the terms
        that each holds, then the newer one."""
        ...

    def frequencies(self, namespace: Namespace, terms: Sequence[str]) -> tuple[Mapping[str, int], int]:
        """How many memories hold each term, of very many a lower bound, and how many memories there are."""
        ...

    def note_used(self, namespace: Namespace, memory_ids: Sequence[MemoryId], *, at: int) -> None:
        """They were given back once more. Returns at once: it is written before what is written after it. Nothing else of them
        changes, and nothing is logged. Raises StoreUnavailable."""
        ...

    def remove(self, namespace: Namespace, memory_ids: Sequence[MemoryId], *, at: int) -> int:
        """For good; how many there were. Their text may stay where the engine keeps what it removed until ``wipe``."""
        ...

    def prune(self, namespace: Namespace, *, at: int) -> int:
        """Remove those whose time is over; how many."""
        ...

    def counts(self, namespace: Namespace) -> Mapping[tuple[Layer, MemoryState], int]: ...

    # --- procedures that run

    def put_run(self, namespace: Namespace, run: ProcedureRun) -> None: ...

    def run(self, namespace: Namespace, run_id: RunId) -> ProcedureRun | None: ...

    def runs(self, namespace: Namespace, limit: int) -> list[ProcedureRun]:
        """The newest first."""
        ...
