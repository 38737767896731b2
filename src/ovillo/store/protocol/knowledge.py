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
    from ovillo.store.forms import Rows


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

    def candidates(self, namespace: Namespace, groups: Sequence[Sequence[str]], limit: int) -> list[ChunkKey]:
        """Chunks that hold a term of any group, at most ``limit``: those an engine takes for the likeliest, by what
        measure it likes. They are a choice of what to weigh; the ranking is made above the store."""
        ...

    def frequency(self, namespace: Namespace, groups: Sequence[Sequence[str]]) -> tuple[list[int], int]:
        """How many chunks hold a term of each group, and how many there are."""
        ...

    def to_embed(self, namespace: Namespace, model: str, limit: int) -> tuple[list[KnowledgeChunk], int]:
        """Chunks without passages' vectors of ``model``, and how many there are in all."""
        ...

    def put_vectors(self, namespace: Namespace, model: str, rows: Sequence[KnowledgeVector]) -> None: ...

    def nearest(self, namespace: Namespace, model: str, rows: Rows, limit: int) -> list[ChunkKey]:
        """Chunks with a passage near one of these rows, nearest first, the earlier of equally near ones first. Compared
        by signs, which is near enough to choose by what is weighed; none where vectors are of another length."""
        ...

    def vectors(
        self, namespace: Namespace, model: str, keys: Sequence[ChunkKey]
    ) -> dict[ChunkKey, KnowledgeVector]: ...
