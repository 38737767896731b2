"""Vectors of memories, by namespace and model; those of two models, or of two namespaces, are never compared.

A vector is of what the memory says (``embedded_text``): with other words, or without the memory, there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ovillo.model.memories import Memory, MemoryFilter, MemoryId
from ovillo.model.records import Namespace

if TYPE_CHECKING:
    from ovillo.store.forms import Row, Rows


class MemoryVectorStore(Protocol):
    def not_embedded(self, namespace: Namespace, model: str, where: MemoryFilter, limit: int) -> list[Memory]:
        """Those that fit and have no vector of ``model`` yet, the newest first."""
        ...

    def share(self, namespace: Namespace, model: str, where: MemoryFilter) -> tuple[int, int]:
        """``(embedded, eligible)`` of those that fit."""
        ...

    def put(self, namespace: Namespace, model: str, rows: Sequence[tuple[Memory, Rows]]) -> None:
        """Vectors of unit length, one or more a memory, in place of those it had. Memories that are gone, or that say something
        else by now, are passed over. Raises InvalidInput when the model's vectors had another length so far."""
        ...

    def nearest(
        self, namespace: Namespace, model: str, vector: Row, where: MemoryFilter, limit: int
    ) -> dict[MemoryId, float]:
        """Those that fit and are nearest to ``vector`` (of unit length), with their cosine, nearest first. A memory is as near as
        the nearest of its vectors. Others take nobody's place."""
        ...

    def cosines(self, namespace: Namespace, model: str, vector: Row, ids: Sequence[MemoryId]) -> dict[MemoryId, float]:
        """Of those of ``ids`` that have a vector here."""
        ...
