"""Embedding what was said, in the background or on demand, newest first.

Owns the order of work, the mean that is subtracted, and stopping promptly. Never on the write path: the store
tells what has no vector yet.
"""

from __future__ import annotations

import hashlib
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ovillo.model.errors import OvilloError
from ovillo.model.records import Namespace
from ovillo.search.embedders import Embedder
from ovillo.search.passages import passages, stored_as
from ovillo.search.vectors import MEAN_NEEDS, centred, stored_mean
from ovillo.store.forms import unit
from ovillo.store.protocol import DocId

if TYPE_CHECKING:
    from ovillo.store.protocol import Store

log = logging.getLogger(__name__)

#: Documents asked of the store at once; texts embedded between two looks at the stop sign; rows written at once.
_FETCHED = 2_000
_STEP = 8
_STEPS = 4
_WRITTEN = 200
#: Equal passages are embedded once as long as they are remembered (about 2 KB each).
_REMEMBERED = 10_000
#: Pauses when nothing waits, and after a failure (seconds).
_IDLE_S = 2.0
_FAILED_S = 60.0

#: ``(embedded, eligible)`` documents.
OnProgress = Callable[[int, int], None]
#: Vectors of several lists of texts.
Run = Callable[[Sequence[Sequence[str]]], list["NDArray[np.float32]"]]


class EmbeddingQueue:
    """Works for all namespaces of the store, in turns, so that a large one keeps nobody waiting. Both ways of running end
    after the text at hand when ``stop`` is set; what is embedded so far is kept."""

    def __init__(self, store: Store, embedder: Embedder) -> None:
        self._store = store
        self._embedder = embedder
        #: What the vectors are kept under in the store.
        self.name = stored_as(embedder.id)
        self._stop = threading.Event()
        self._remembered: OrderedDict[bytes, NDArray[np.float32]] = OrderedDict()

    def run(self, stop: threading.Event) -> None:
        """Keep embedding until ``stop``. The caller gives the thread its (low) priority."""
        self._stop = stop
        while not stop.is_set():
            pause = _IDLE_S
            try:
                self._until_done(lambda texts: list(map(self._embedder.embed, texts)))
            except OvilloError as error:
                log.warning("Embedding paused for %d s: %s", _FAILED_S, error)
                pause = _FAILED_S
            stop.wait(pause)

    def run_until_done(
        self, progress: OnProgress | None = None, stop: threading.Event | None = None, *, workers: int = 2
    ) -> int:
        """Embed everything that has no vector yet; how many documents got one.

        Raises UpstreamError when a remote model does not answer."""
        self._stop = stop or threading.Event()
        done, eligible = embedded_of_all(self._store, self.name) if progress else (0, 0)
        with ThreadPoolExecutor(workers) as pool:

            def written_more(count: int) -> None:
                nonlocal done
                done += count
                if progress:
                    progress(done, max(done, eligible))

            return self._until_done(lambda texts: list(pool.map(self._embedder.embed, texts)), written_more)

    def _until_done(self, run: Run, written_more: Callable[[int], None] = lambda _: None) -> int:
        """A turn for each namespace that has something waiting, until none has; how many documents got vectors."""
        done = 0
        waiting = list(self._store.sessions.namespaces())
        while waiting and not self._stop.is_set():
            size = max(_WRITTEN, _FETCHED // len(waiting))
            busy = []
            for namespace in waiting:
                count = self._turn(namespace, size, run, written_more)
                done += count
                if count:
                    busy.append(namespace)
            waiting = busy
        return done

    def _turn(self, namespace: Namespace, size: int, run: Run, written_more: Callable[[int], None]) -> int:
        """One fetch from the store, written piece by piece; how many documents got vectors."""
        if self._stop.is_set():
            return 0
        waiting = self._store.vectors.not_embedded(namespace, self.name, size)
        written = 0
        for at in range(0, len(waiting), _WRITTEN):
            if self._stop.is_set():
                break
            count = self._write(namespace, waiting[at : at + _WRITTEN], run)
            written_more(count)
            written += count
        return written

    def _write(self, namespace: Namespace, docs: Sequence[tuple[DocId, str]], run: Run) -> int:
        """Vectors for these documents; fewer when told to stop."""
        cut = [(doc, passages(text)) for doc, text in docs]
        self._embed({_key(text): text for _, texts in cut for text in texts}, run)
        done = [
            (doc, [self._remembered[_key(text)] for text in texts])
            for doc, texts in cut
            if all(_key(text) in self._remembered for text in texts)
        ]
        while len(self._remembered) > _REMEMBERED:
            self._remembered.popitem(last=False)
        if not done:
            return 0
        rows = np.array([row for _, rows in done for row in rows], np.float32)
        put = iter(centred(rows, self._mean(namespace, rows)))
        self._store.vectors.put(
            namespace, self.name, [(doc, np.array([next(put) for _ in rows], np.float32)) for doc, rows in done]
        )
        return len(done)

    def _embed(self, texts: dict[bytes, str], run: Run) -> None:
        """Vectors of these texts into memory, as far as there is time."""
        new = [(key, text) for key, text in texts.items() if key not in self._remembered]
        # Short ones first: a step then holds texts of like length.
        new.sort(key=lambda item: len(item[1]))
        for at in range(0, len(new), _STEP * _STEPS):
            if self._stop.is_set():
                break
            piece = new[at : at + _STEP * _STEPS]
            steps = [piece[i : i + _STEP] for i in range(0, len(piece), _STEP)]
            given = [[self._embedder.passage_prefix + text for _, text in step] for step in steps]
            for step, rows in zip(steps, run(given), strict=True):
                self._remembered.update(zip((key for key, _ in step), rows, strict=True))

    def _mean(self, namespace: Namespace, rows: NDArray[np.float32]) -> NDArray[np.float32] | None:
        """The mean to subtract: fixed once enough passages have been seen, because stored vectors rest on it."""
        mean = stored_mean(self._store.vectors, namespace, self.name)
        if mean is not None:
            return mean
        before = self._store.vectors.stored(namespace, self.name)
        everything = np.concatenate([*(vectors for _, vectors in before), unit(rows)])
        if len(everything) < MEAN_NEEDS:
            return None
        mean = np.asarray(everything.mean(axis=0), np.float32)
        self._store.vectors.set_model_state(namespace, self.name, {"mean": [round(float(x), 6) for x in mean]})
        self._store.vectors.put(namespace, self.name, [(doc, centred(vectors, mean)) for doc, vectors in before])
        return mean


def embedded_of_all(store: Store, name: str) -> tuple[int, int]:
    """``(embedded, eligible)`` documents of all namespaces: for who runs the server, in no answer to a caller."""
    shares = [store.vectors.share(namespace, name) for namespace in store.sessions.namespaces()]
    return sum(done for done, _ in shares), sum(eligible for _, eligible in shares)


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
