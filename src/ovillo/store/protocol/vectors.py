"""Vectors of documents, by namespace and model; those of two models, or of two namespaces, are never compared.

Vectors go in and out as rows of floats; how they are kept and searched is the store's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from ovillo.model.records import Namespace
from ovillo.store.protocol.text import DocFilter, DocId

if TYPE_CHECKING:
    from ovillo.store.forms import Row, Rows


class VectorStore(Protocol):
    def not_embedded(self, namespace: Namespace, model: str, limit: int) -> list[tuple[DocId, str]]:
        """Newest documents said by people and models (never tool output) that have no vector of ``model`` yet."""
        ...

    def share(self, namespace: Namespace, model: str) -> tuple[int, int]:
        """``(embedded, eligible)`` documents."""
        ...

    def put(self, namespace: Namespace, model: str, rows: Sequence[tuple[DocId, Rows]]) -> None:
        """Vectors of unit length, one or more a document, in place of those it had. Documents that are not of this
        namespace (any more) are passed over. Raises InvalidInput when the model's vectors had another length so far."""
        ...

    def stored(self, namespace: Namespace, model: str) -> list[tuple[DocId, Rows]]:
        """All of them, near to what was put: only for who knows that they are few."""
        ...

    def nearest(
        self, namespace: Namespace, model: str, vector: Row, where: DocFilter, limit: int
    ) -> dict[DocId, float]:
        """The documents of this namespace that pass ``where`` and are nearest to ``vector`` (of unit length), with their
        cosine: nearest first, the newer of equally near ones first. A document is as near as the nearest of its vectors.
        Other namespaces, and documents that do not pass, take nobody's place."""
        ...

    def cosines(self, namespace: Namespace, model: str, vector: Row, ids: Sequence[DocId]) -> dict[DocId, float]:
        """Of those of ``ids`` that have a vector here."""
        ...

    def passage_cosines(
        self, namespace: Namespace, model: str, vector: Row, ids: Sequence[DocId]
    ) -> dict[DocId, list[float]]:
        """Of those of ``ids`` that have a vector here: of each of their vectors, in the order they were put."""
        ...

    def model_state(self, namespace: Namespace, model: str) -> dict[str, Any]:
        """Whatever the embedder keeps with its vectors (the mean that was subtracted), JSON-able."""
        ...

    def set_model_state(self, namespace: Namespace, model: str, state: Mapping[str, Any]) -> None: ...
