"""Vectors: how they are kept, and finding the nearest.

Owns centring, the two stored forms (sign bits to scan, int8 to rescore) and the bits in memory. What is nearest among
what may be seen is decided by the caller. Evidence: retrieval study, section 3 (bits + int8 rescoring of the best 1,000).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ovillo.model.records import Namespace
from ovillo.store.protocol import DocId, Store

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Fewer texts than this give no mean worth subtracting.
MEAN_NEEDS = 256
#: How old the bits in memory may be before they are compared with the store again (seconds).
_REFRESH_S = 20.0
_RESCORED = 1_000


@dataclass(frozen=True, slots=True)
class Packed:
    """A vector as it is stored: sign bits and int8 values."""

    bits: bytes
    values: bytes


def centred(rows: NDArray[np.float32], mean: NDArray[np.float32] | None) -> NDArray[np.float32]:
    """Unit rows, the mean taken off; a row that is nothing but the mean stays near zero."""
    rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    if mean is not None:
        rows = rows - mean
        rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return rows.astype(np.float32)


def pack(rows: NDArray[np.float32]) -> list[Packed]:
    bits = np.packbits(rows > 0, axis=1)
    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
    values = np.rint(rows * (127 / scale)).astype(np.int8)
    return [Packed(one.tobytes(), other.tobytes()) for one, other in zip(bits, values, strict=True)]


def stored_mean(store: Store, model: str) -> NDArray[np.float32] | None:
    mean = store.model_state(model).get("mean")
    return np.array(mean, np.float32) if mean else None


class VectorIndex:
    """The nearest documents of one model. Bits are held in memory; other processes' additions arrive within seconds."""

    def __init__(self, store: Store, namespace: Namespace, model: str) -> None:
        self._store = store
        self._namespace = namespace
        self._model = model
        self._lock = threading.Lock()
        self._docs: NDArray[np.int64] = np.empty(0, np.int64)
        self._bits: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
        self._mean: NDArray[np.float32] | None = None
        self._loaded_at: float | None = None
        self._count = 0

    def nearest(
        self, queries: NDArray[np.float32], limit: int, among: NDArray[np.int64] | None = None
    ) -> dict[DocId, float]:
        """Cosine to the nearest of the queries, for the ``limit`` best documents (of ``among``, if given)."""
        self._refresh()
        docs, bits = self._docs, self._bits
        if not len(docs) or bits.shape[1] * 8 != queries.shape[1]:
            return {}
        if among is not None:
            inside = np.isin(docs, among, assume_unique=True)
            docs, bits = docs[inside], bits[inside]
        rows = centred(queries, self._mean)
        found: dict[DocId, float] = {}
        for row in rows:
            for doc, cosine in self._rescored(row, _closest(bits, np.packbits(row > 0), _RESCORED, docs)).items():
                found[doc] = max(found.get(doc, -1.0), cosine)
        best = sorted(found.items(), key=lambda item: (-item[1], -item[0]))[:limit]
        return dict(best)

    def cosines(self, queries: NDArray[np.float32], docs: Sequence[DocId]) -> dict[DocId, float]:
        """Cosine to the nearest of the queries, for those of ``docs`` that have a vector."""
        found: dict[DocId, float] = {}
        for row in centred(queries, self._mean):
            for doc, cosine in self._rescored(row, docs).items():
                found[doc] = max(found.get(doc, -1.0), cosine)
        return found

    def _rescored(self, row: NDArray[np.float32], docs: Sequence[DocId]) -> dict[DocId, float]:
        ids, values = self._store.vectors(self._model, docs)
        if not ids:
            return {}
        floats = values.astype(np.float32)
        cosines = floats @ row / np.maximum(np.linalg.norm(floats, axis=1), 1e-9)
        return dict(zip(ids, cosines.tolist(), strict=True))

    def _refresh(self) -> None:
        with self._lock:
            now = time.monotonic()
            if self._loaded_at is not None and now - self._loaded_at < _REFRESH_S:
                return
            # Vectors arrive newest document first, so a document number says nothing about what is new: count.
            count, _ = self._store.embedding_share(self._namespace, self._model)
            if self._loaded_at is None or count != self._count:
                self._mean = stored_mean(self._store, self._model)
                self._docs, self._bits = self._store.vector_bits(self._namespace, self._model)
                self._count = count
            self._loaded_at = time.monotonic()

    def forget(self) -> None:
        """Read the bits anew at the next search."""
        self._loaded_at = None


def _closest(bits: NDArray[np.uint8], query: NDArray[np.uint8], limit: int, docs: NDArray[np.int64]) -> list[DocId]:
    """Documents whose signs differ least from the query's."""
    if not len(docs):
        return []
    wide = np.uint64 if bits.shape[1] % 8 == 0 else np.uint8
    differing = np.bitwise_count(np.ascontiguousarray(bits).view(wide) ^ query.view(wide)).sum(axis=1, dtype=np.uint16)
    if len(docs) > limit:
        return [int(doc) for doc in docs[np.argpartition(differing, limit)[:limit]]]
    return [int(doc) for doc in docs]
