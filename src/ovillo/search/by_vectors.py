"""The side of meaning of a query: its vectors, the nearest documents, and what share of texts has vectors.

Owns loading the model at the first query that needs it. How much meaning weighs is the ranking's.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ovillo.model.errors import OvilloError
from ovillo.model.records import Namespace
from ovillo.search.embedders import model_id, open_embedder
from ovillo.search.passages import stored_as
from ovillo.settings import Settings
from ovillo.store.protocol import DocFilter, DocId

if TYPE_CHECKING:
    from ovillo.search.embedders import Embedder
    from ovillo.store.forms import Row, Rows
    from ovillo.store.protocol import VectorStore

log = logging.getLogger(__name__)

#: Nearest documents that join the candidates.
_NEAREST = 200
_SHARE_S = 5.0
#: A model that failed is not asked again for so long (seconds).
_FAILED_S = 60.0


class VectorSearch:
    def __init__(self, store: VectorStore, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._model = model_id(settings)
        self._opening = threading.Lock()
        self._embedder: Embedder | None = None
        self._failed_at: float | None = None
        #: The rows of what was asked last.
        self._last: dict[tuple[str, ...], Rows] = {}
        self._counts: dict[Namespace, tuple[float, tuple[int, int]]] = {}

    def near(
        self, namespace: Namespace, texts: Sequence[str], where: DocFilter, also: Sequence[DocId]
    ) -> dict[DocId, float]:
        """Cosine of the documents nearest to any of ``texts``, and of those of ``also`` that have a vector.

        Empty without a model, without vectors, or while the model fails: search then goes on by words."""
        asked = self._asked(namespace, texts)
        if asked is None:
            return {}
        name, rows = asked
        near = _best(self._store.nearest(namespace, name, row, where, _NEAREST) for row in rows)
        near = dict(sorted(near.items(), key=lambda item: -item[1])[:_NEAREST])
        others = [doc for doc in also if doc not in near]
        return {**_best(self._store.cosines(namespace, name, row, others) for row in rows), **near}

    def of_passages(self, namespace: Namespace, texts: Sequence[str], ids: Sequence[DocId]) -> dict[DocId, list[float]]:
        """Cosine of each passage (``passages.spans``) of these documents with the nearest of ``texts``; documents without
        vectors are left out. Empty as ``near`` is."""
        asked = self._asked(namespace, texts) if ids else None
        if asked is None:
            return {}
        name, rows = asked
        best: dict[DocId, list[float]] = {}
        for row in rows:
            for doc, cosines in self._store.passage_cosines(namespace, name, row, ids).items():
                best[doc] = [max(pair) for pair in zip(cosines, best.get(doc, cosines), strict=True)]
        return best

    def _asked(self, namespace: Namespace, texts: Sequence[str]) -> tuple[str, Sequence[Row]] | None:
        """The name that vectors are kept under, and the rows of ``texts``; ``None`` where nothing can be compared."""
        # Loading the model costs a third of a second: not before there is something to compare with.
        if self._model is None or not texts or not self._counted(namespace, self._model)[0]:
            return None
        if self._failed_at is not None and time.monotonic() - self._failed_at < _FAILED_S:
            return None
        try:
            embedder = self._loaded()
            name, key = stored_as(embedder.id), tuple(texts)
            rows = self._last.get(key)
            if rows is None:
                rows = embedder.embed([embedder.query_prefix + text for text in texts])
                # One question is asked of documents and then of their passages.
                self._last = {key: rows}
        except OvilloError as error:
            log.warning("Searching without meaning: %s", error)
            self._failed_at = time.monotonic()
            return None
        from ovillo.search.vectors import centred, stored_mean  # start-up cost: numpy; exact queries never get here

        return name, list(centred(rows, stored_mean(self._store, namespace, name)))

    def share(self, namespace: Namespace) -> float | None:
        """Share of eligible texts that have vectors, 0..1, at most a few seconds old; ``None`` without a model."""
        if self._model is None:
            return None
        done, eligible = self._counted(namespace, self._model)
        return min(1.0, done / eligible) if eligible else 1.0

    def _counted(self, namespace: Namespace, name: str) -> tuple[int, int]:
        known = self._counts.get(namespace)
        if known is not None and time.monotonic() - known[0] < _SHARE_S:
            return known[1]
        counted = self._store.share(namespace, name)
        self._counts[namespace] = (time.monotonic(), counted)
        return counted

    def _loaded(self) -> Embedder:
        with self._opening:
            if self._embedder is None:
                self._embedder = open_embedder(self._settings)
                assert self._embedder is not None  # ``none`` was dealt with
            return self._embedder


def _best(found: Iterable[dict[DocId, float]]) -> dict[DocId, float]:
    """Each document as near as it is to the nearest of the texts."""
    best: dict[DocId, float] = {}
    for cosines in found:
        for doc, cosine in cosines.items():
            best[doc] = max(cosine, best.get(doc, cosine))
    return best
