"""Knowledge documents: references to lines of files, index terms and vectors of them, never their text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from ovillo.model.knowledge import (
    ChunkKey,
    KnowledgeChunk,
    KnowledgeDocument,
    KnowledgeStamp,
    KnowledgeVector,
    NewChunk,
)
from ovillo.model.records import Namespace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class KnowledgeStore(Protocol):
    def put(
        self,
        namespace: Namespace,
        path: str,
        stamp: KnowledgeStamp,
        chunks: Sequence[NewChunk],
        *,
        name: str,
        lines: int,
        at: int,
    ) -> KnowledgeDocument:
        """Keep a document in place of what was known of its path. ``name`` is used when no other document has it, else
        with a number; a known document keeps its name. Vectors no chunk refers to any more are dropped."""
        ...

    def restamp(self, namespace: Namespace, path: str, stamp: KnowledgeStamp, problem: str | None) -> None:
        """The file was looked at: its stamp now, and why it cannot be quoted."""
        ...

    def remove(self, namespace: Namespace, path: str, *, at: int) -> bool:
        """Whether there was one."""
        ...

    def documents(self, namespace: Namespace) -> list[KnowledgeDocument]:
        """All, by path."""
        ...

    def chunks(
        self, namespace: Namespace, *, path: str | None = None, keys: Sequence[ChunkKey] | None = None
    ) -> list[KnowledgeChunk]:
        """By path and place; those of one document, or those of these keys that still exist."""
        ...

    def matches(
        self, namespace: Namespace, groups: Sequence[Sequence[str]], limit: int
    ) -> list[tuple[ChunkKey, float]]:
        """Chunks that hold any term of any group, best first (BM25, higher is better)."""
        ...

    def frequency(self, namespace: Namespace, groups: Sequence[Sequence[str]]) -> tuple[list[int], int]:
        """How many chunks hold a term of each group, and how many there are."""
        ...

    def to_embed(self, namespace: Namespace, model: str, limit: int) -> tuple[list[KnowledgeChunk], int]:
        """Chunks without passages' vectors of ``model``, and how many there are in all."""
        ...

    def put_vectors(self, namespace: Namespace, model: str, rows: Sequence[KnowledgeVector]) -> None: ...

    def bits(self, namespace: Namespace, model: str, size: int) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Chunk keys and sign bits, a row a passage; ``size`` is of one row in bytes."""
        ...

    def vectors(
        self, namespace: Namespace, model: str, keys: Sequence[ChunkKey]
    ) -> dict[ChunkKey, KnowledgeVector]: ...

    def revision(self, namespace: Namespace) -> int:
        """Changes whenever chunks or vectors do."""
        ...
