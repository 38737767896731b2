"""Finding by meaning: vectors cut to sign bits and int8, searched in memory.

Owns the cut (mean subtracted, signs, int8) and the search: all sign bits by popcount, the best thousand by int8.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ovillo.model.records import Namespace
from ovillo.search.embedders import Embedder
from ovillo.store.protocol import DocId, Store

_RESCORED = 1_000


class VectorIndex:
    """The vectors of one embedder; new ones are loaded as they come."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self.embedder = embedder
        self._lock = threading.Lock()
        self._docs: NDArray[np.int64] = np.empty(0, np.int64)
        self._bits: NDArray[np.uint8] = np.empty((0, 0), np.uint8)
        self._loaded = -1

    def mean(self) -> NDArray[np.float32] | None:
        kept = self._store.model_state(self.embedder.id).get("mean")
        return None if kept is None else np.asarray(kept, np.float32)

    def query_vector(self, text: str) -> NDArray[np.float32] | None:
        """``None`` as long as nothing is embedded."""
        mean = self.mean()
        return None if mean is None else centred(self.embedder.embed([text], query=True), mean)[0]

    def nearest(self, namespace: Namespace, vector: NDArray[np.float32], limit: int) -> dict[DocId, float]:
        """The ``limit`` documents nearest in meaning, with their cosine."""
        docs, bits = self._load(namespace)
        if not len(docs):
            return {}
        distance = np.bitwise_count(bits ^ np.packbits(vector > 0)).sum(axis=1, dtype=np.uint16)
        few = min(_RESCORED, len(docs))
        best = docs[np.argpartition(distance, few - 1)[:few]]
        scores = self.cosines(vector, best.tolist())
        return dict(sorted(scores.items(), key=lambda item: (-item[1], item[0]))[:limit])

    def cosines(self, vector: NDArray[np.float32], docs: Sequence[DocId]) -> dict[DocId, float]:
        """Of those documents that have a vector."""
        ids, values = self._store.vectors(self.embedder.id, docs)
        if not ids:
            return {}
        floats = values.astype(np.float32)
        scores = floats @ vector / np.maximum(np.linalg.norm(floats, axis=1), 1e-9)
        return dict(zip(ids, scores.tolist(), strict=True))

    def _load(self, namespace: Namespace) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        with self._lock:
            # Newest documents are embedded first, so that new vectors may belong anywhere: count, then load again.
            count, _ = self._store.embedding_share(namespace, self.embedder.id)
            if count != self._loaded:
                self._docs, self._bits = self._store.vector_bits(namespace, self.embedder.id)
                self._loaded = count
            return self._docs, self._bits


def centred(rows: NDArray[np.float32], mean: NDArray[np.float32]) -> NDArray[np.float32]:
    shifted = rows - mean
    return np.asarray(shifted / np.maximum(np.linalg.norm(shifted, axis=1, keepdims=True), 1e-9), np.float32)


def cut(rows: NDArray[np.float32]) -> list[tuple[bytes, bytes]]:
    """``(sign bits, int8 values)`` of each row."""
    scale = 127 / np.maximum(np.abs(rows).max(axis=1, keepdims=True), 1e-9)
    small = np.round(rows * scale).astype(np.int8)
    bits = np.packbits(rows > 0, axis=1)
    return [(bits[i].tobytes(), small[i].tobytes()) for i in range(len(rows))]
