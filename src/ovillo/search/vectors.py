"""Vectors: how they are kept, and finding the nearest.

Owns centring, the two stored forms (sign bits to scan, four-bit values to rescore) and the bits in memory. A document has
one vector a passage and is as near as the nearest of them. What may be seen is decided by the caller. Evidence:
retrieval study, section 3 (bits, the best 1,000 rescored); four bits ranked planted paraphrases as float32 did.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ovillo.model.records import Namespace
from ovillo.search.passages import stored_as
from ovillo.store.protocol import DocId

if TYPE_CHECKING:
    from ovillo.store.protocol import Store

Rows = NDArray[np.float32]

#: Fewer passages than this give no mean worth subtracting.
MEAN_NEEDS = 256
#: How old the bits in memory may be before they are compared with the store again (seconds).
_REFRESH_S = 20.0
#: Passages whose values are read after the scan of the bits.
_RESCORED = 1_000


def unit(rows: Rows) -> Rows:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9), np.float32)


def centred(rows: Rows, mean: Rows | None) -> Rows:
    """Unit rows without the mean, unit again; a row that is nothing but the mean stays near zero."""
    rows = unit(rows)
    return rows if mean is None else unit(rows - mean)


def pack(rows: Rows) -> list[tuple[bytes, bytes]]:
    """``(sign bits, values)`` of each row; two values of -7..7 share a byte."""
    scale = np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
    small = (np.rint(rows * (7 / scale)) + 8).astype(np.uint8)
    values = small[:, 0::2] << 4 | small[:, 1::2]
    bits = np.packbits(rows > 0, axis=1)
    return [(one.tobytes(), other.tobytes()) for one, other in zip(bits, values, strict=True)]


def unpack(values: NDArray[np.int8]) -> Rows:
    """The rows that ``pack`` made values of, at unit length."""
    pairs = values.view(np.uint8)
    rows = np.empty((pairs.shape[0], pairs.shape[1] * 2), np.float32)
    rows[:, 0::2] = pairs >> 4
    rows[:, 1::2] = pairs & 15
    return unit(rows - 8)


def stored_mean(store: Store, name: str) -> Rows | None:
    mean = store.model_state(name).get("mean")
    return np.array(mean, np.float32) if mean else None


class VectorIndex:
    """The nearest documents of one model. Bits are held in memory; other processes' additions arrive within seconds."""

    def __init__(self, store: Store, namespace: Namespace, embedder_id: str, dimension: int) -> None:
        self._store = store
        self._namespace = namespace
        self._name = stored_as(embedder_id)
        self._dimension = dimension
        self._lock = threading.Lock()
        self._docs: NDArray[np.int64] = np.empty(0, np.int64)
        self._bits: NDArray[np.uint8] = np.empty((0, dimension // 8), np.uint8)
        self._mean: Rows | None = None
        self._loaded_at: float | None = None
        self._count = 0

    def nearest(self, queries: Rows, limit: int) -> dict[DocId, float]:
        """The ``limit`` documents nearest to any of the queries, nearest first, with their cosine."""
        docs, bits = self._current()
        found: dict[DocId, float] = {}
        for row in centred(queries, self._mean):
            _keep_best(found, self._rescored(row, _closest(bits, np.packbits(row > 0), docs)))
        return dict(sorted(found.items(), key=lambda item: (-item[1], -item[0]))[:limit])

    def cosines(self, queries: Rows, docs: Sequence[DocId]) -> dict[DocId, float]:
        """Cosine to the nearest of the queries, for those of ``docs`` that have a vector."""
        found: dict[DocId, float] = {}
        for row in centred(queries, self._mean):
            _keep_best(found, self._rescored(row, docs))
        return found

    def _rescored(self, row: Rows, docs: Sequence[DocId]) -> Iterable[tuple[DocId, float]]:
        ids, values = self._store.vectors(self._name, docs, size=self._dimension // 2)
        if not ids:
            return ()
        # Not @: BLAS would spin up threads of its own for two milliseconds' work.
        return zip(ids, np.einsum("ij,j->i", unpack(values), row).tolist(), strict=True)

    def _current(self) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        with self._lock:
            now = time.monotonic()
            if self._loaded_at is None or now - self._loaded_at >= _REFRESH_S:
                # Vectors arrive newest document first, so a document number says nothing about what is new: count.
                count, _ = self._store.embedding_share(self._namespace, self._name)
                if self._loaded_at is None or count != self._count:
                    self._mean = stored_mean(self._store, self._name)
                    docs, bits = self._store.vector_bits(self._namespace, self._name, size=self._dimension // 8)
                    self._docs, self._bits = docs, bits.reshape(-1, self._dimension // 8)
                    self._count = count
                self._loaded_at = time.monotonic()
            return self._docs, self._bits


def _keep_best(found: dict[DocId, float], cosines: Iterable[tuple[DocId, float]]) -> None:
    for doc, cosine in cosines:
        if cosine > found.get(doc, -2.0):
            found[doc] = cosine


def _closest(bits: NDArray[np.uint8], query: NDArray[np.uint8], docs: NDArray[np.int64]) -> list[DocId]:
    """Documents with a passage whose signs differ least from the query's."""
    if not len(docs):
        return []
    wide = np.uint64 if bits.shape[1] % 8 == 0 else np.uint8
    differing = np.bitwise_count(np.ascontiguousarray(bits).view(wide) ^ query.view(wide)).sum(axis=1, dtype=np.uint16)
    if len(docs) > _RESCORED:
        docs = docs[np.argpartition(differing, _RESCORED)[:_RESCORED]]
    return [int(doc) for doc in dict.fromkeys(docs.tolist())]
