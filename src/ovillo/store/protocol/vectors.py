"""Vectors of documents; those of two models are never compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ovillo.model.records import Namespace
from ovillo.store.protocol.text import DocId

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class VectorStore(Protocol):
    def not_embedded(self, namespace: Namespace, model: str, limit: int) -> list[tuple[DocId, str]]:
        """Newest documents said by people and models (never tool output) that have no vector of ``model`` yet."""
        ...

    def put_vectors(self, model: str, rows: Sequence[tuple[DocId, bytes, bytes]]) -> None:
        """``(document, sign bits, values)``; several vectors of one document stand one after the other in both."""
        ...

    def embedding_share(self, namespace: Namespace, model: str) -> tuple[int, int]:
        """``(embedded, eligible)`` documents."""
        ...

    def vector_bits(
        self, namespace: Namespace, model: str, after: DocId = 0, *, size: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Document numbers and their sign bits (packed, one row a vector), above ``after``. With ``size`` (bytes of one
        vector's bits) a document of several vectors is repeated; without it, each has one."""
        ...

    def vectors(
        self, model: str, ids: Sequence[DocId], *, size: int | None = None
    ) -> tuple[list[DocId], NDArray[np.int8]]:
        """Documents and the bytes of their values, one row a vector; ``size`` as above (bytes of one vector's values)."""
        ...

    def model_state(self, model: str) -> dict[str, Any]:
        """Whatever the embedder keeps with its vectors (the mean that was subtracted), JSON-able."""
        ...

    def set_model_state(self, model: str, state: Mapping[str, Any]) -> None: ...
