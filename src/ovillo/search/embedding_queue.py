"""Embedding what waits, newest first, beside everything else.

Owns the order and the pace. Runs on a thread of low priority or, for ``ovillo embed``, in the foreground.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import numpy as np

from ovillo.model.errors import OvilloError, UpstreamError
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.search.embedders import Embedder
from ovillo.search.vectors import centred, cut
from ovillo.store.protocol import DocId, Store

log = logging.getLogger(__name__)

#: Texts fetched, sorted by length and embedded together.
_BATCH = 256
#: Texts whose mean stands for the model's (kept for good once it is made).
_MEAN_OF = 512
_IDLE_S = 2.0

#: ``(embedded, eligible)``.
OnProgress = Callable[[int, int], None]


class EmbeddingQueue:
    def __init__(self, store: Store, embedder: Embedder, namespace: Namespace = DEFAULT_NAMESPACE) -> None:
        self._store = store
        self._embedder = embedder
        self._namespace = namespace

    def run_until_done(self, progress: OnProgress | None = None, stop: threading.Event | None = None) -> int:
        """Embed everything that waits; returns how many texts. Raises UpstreamError."""
        done = 0
        while not (stop and stop.is_set()):
            count = self.step()
            if not count:
                break
            done += count
            if progress:
                progress(*self._store.embedding_share(self._namespace, self._embedder.id))
        return done

    def run(self, stop: threading.Event) -> None:
        """Keep embedding until ``stop``; a model that does not answer is asked again later."""
        while not stop.is_set():
            try:
                self.run_until_done(stop=stop)
            except UpstreamError as error:
                log.warning("%s", error)
                stop.wait(60)
            except OvilloError as error:
                log.warning("Embedding stopped: %s", error)
                return
            stop.wait(_IDLE_S)

    def step(self) -> int:
        """Embed one batch; returns how many documents got a vector."""
        waiting = self._store.not_embedded(self._namespace, self._embedder.id, _BATCH)
        if not waiting:
            return 0
        by_text: dict[str, list[DocId]] = {}
        for doc, text in waiting:
            by_text.setdefault(text, []).append(doc)
        rows = self._embedder.embed(list(by_text))
        vectors = cut(centred(rows, self._mean(rows)))
        self._store.put_vectors(
            self._embedder.id,
            [(doc, *vector) for docs, vector in zip(by_text.values(), vectors, strict=True) for doc in docs],
        )
        return len(waiting)

    def _mean(
        self, rows: np.ndarray[tuple[int, int], np.dtype[np.float32]]
    ) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
        kept = self._store.model_state(self._embedder.id).get("mean")
        if kept is None:
            sample = self._store.not_embedded(self._namespace, self._embedder.id, _MEAN_OF)
            more = [text for _, text in sample[_BATCH:]]
            stacked = np.concatenate([rows, self._embedder.embed(more)]) if more else rows
            # With few texts their mean would be the texts themselves.
            mean = stacked.mean(axis=0) if len(stacked) >= 32 else np.zeros(rows.shape[1], np.float32)
            kept = [round(float(value), 6) for value in mean]
            if len(stacked) >= 32:
                self._store.set_model_state(self._embedder.id, {"mean": kept})
            else:
                self._store.set_model_state(self._embedder.id, {"mean": kept, "provisional": True})
        return np.asarray(kept, np.float32)
