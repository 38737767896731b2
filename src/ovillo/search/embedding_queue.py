"""Embedding what was said, in the background or on demand, newest first.

Owns the order of work, the mean that is subtracted, and stopping promptly. Never on the write path: the store lists
what has no vector yet.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from ovillo.model.errors import OvilloError
from ovillo.model.records import Namespace
from ovillo.search.embedders import Embedder
from ovillo.search.passages import passages, stored_as
from ovillo.search.seen_passages import SeenPassages
from ovillo.search.vectors import MEAN_NEEDS, centred, keep_frame, make_frame, stored_frame
from ovillo.store.forms import Row, Rows, unit
from ovillo.store.protocol import DocId

if TYPE_CHECKING:
    from ovillo.store.protocol import Store

log = logging.getLogger(__name__)

#: Documents fetched from the store at once, documents written at once; texts embedded between two checks for a stop and for
#: others who wait.
_FETCHED = 2_000
_WRITTEN = 200
#: Few where the model runs here, so that nobody waits long (of like length, 8 are as fast as 64: measured); many where a server is asked.
_LEAST_STEP, _MOST_STEP = 8, 64
_LONG_STEP_S = 0.15
#: A batch that takes longer than this is too large; the minimum batch size in documents.
_LONG_S = 10.0
_LEAST_WRITTEN = 10
#: Pauses when there is nothing to do, and after a failure (seconds).
_IDLE_S = 2.0
_FAILED_S = 60.0

#: ``(embedded, eligible)`` documents.
OnProgress = Callable[[int, int], None]
#: One step's texts by key.
Step = Sequence[tuple[bytes, str]]
#: ``map``, or a thread pool's.
Map = Callable[[Callable[[Step], "Rows | None"], Sequence[Step]], Iterable["Rows | None"]]


class EmbeddingQueue:
    """Works for all namespaces in turns, so that a large one does not delay the others. Both ``run`` and
    ``run_until_done`` end after the current texts when ``stop`` is set; what was embedded is kept."""

    def __init__(self, store: Store, embedder: Embedder, give_way: Callable[[], None] = lambda: None) -> None:
        """``give_way`` is called before every few texts and may wait."""
        self._store = store
        self._embedder = embedder
        self._give_way = give_way
        #: Name of the vectors in the store.
        self.name = stored_as(embedder.id)
        self._stop = threading.Event()
        self._seen = SeenPassages()
        #: Why the last texts have no vectors; raised after the others' vectors are written.
        self._failure: OvilloError | None = None
        #: Documents written at once: fewer when a batch takes long, because whatever ends this process loses one batch.
        self._piece = _WRITTEN
        #: Texts between two checks, and the longest that a thread computed between two (seconds).
        self._step = _LEAST_STEP
        self._longest_s = 0.0

    def share(self) -> tuple[int, int]:
        """``(embedded, eligible)`` documents of all namespaces: for the operator, never part of an answer."""
        vectors = self._store.vectors
        shares = [vectors.share(namespace, self.name) for namespace in self._store.sessions.namespaces()]
        return sum(done for done, _ in shares), sum(eligible for _, eligible in shares)

    def run(self, stop: threading.Event) -> None:
        """Keep embedding until ``stop``. The caller sets the thread's (low) priority."""
        self._stop = stop
        while not stop.is_set():
            pause = _IDLE_S
            try:
                self._until_done(map)
            except OvilloError as error:
                log.warning("Embedding paused for %d s: %s", _FAILED_S, error)
                pause = _FAILED_S
            stop.wait(pause)

    def run_until_done(
        self, progress: OnProgress | None = None, stop: threading.Event | None = None, *, workers: int = 2
    ) -> int:
        """Embed everything without a vector; returns the number of documents that got one.

        Raises UpstreamError when a remote model does not answer."""
        self._stop = stop or threading.Event()
        done, eligible = self.share() if progress else (0, 0)
        with ThreadPoolExecutor(workers) as pool:

            def written_more(count: int) -> None:
                nonlocal done
                done += count
                if progress:
                    progress(done, max(done, eligible))

            return self._until_done(pool.map, written_more)

    def _until_done(self, run: Map, written_more: Callable[[int], None] = lambda _: None) -> int:
        """Takes turns between namespaces until none has work left; returns the number of documents that got vectors."""
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
        self._seen.forget()
        return done

    def _turn(self, namespace: Namespace, size: int, run: Map, written_more: Callable[[int], None]) -> int:
        """One fetch from the store, written batch by batch; returns the number of documents that got vectors."""
        if self._stop.is_set():
            return 0
        waiting = self._store.vectors.not_embedded(namespace, self.name, size)
        written = at = 0
        while at < len(waiting) and not self._stop.is_set():
            piece = waiting[at : at + self._piece]
            at += len(piece)
            started = time.monotonic()
            count = self._write(namespace, piece, run)
            self._piece = _next_piece(self._piece, time.monotonic() - started)
            written_more(count)
            written += count
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
        return written

    def _write(self, namespace: Namespace, docs: Sequence[tuple[DocId, str]], run: Map) -> int:
        """Vectors for these documents; fewer after a stop."""
        mean = stored_frame(self._store.vectors, namespace, self.name).mean
        if mean is None:
            # The stored vectors of the first few hundred change once there is a mean.
            self._seen.forget()
        cut = [(doc, [(_key(namespace, text), text) for text in passages(text)]) for doc, text in docs]
        made = self._embedded({key: text for _, texts in cut for key, text in texts if key not in self._seen}, run)
        done = [
            (doc, [key for key, _ in texts])
            for doc, texts in cut
            if all(key in made or key in self._seen for key, _ in texts)
        ]
        if not done:
            return 0
        rows = self._rows(namespace, [key for _, keys in done for key in keys], made, mean)
        ends = np.cumsum([len(keys) for _, keys in done])[:-1]
        documents = [doc for doc, _ in done]
        self._store.vectors.put(namespace, self.name, list(zip(documents, np.split(rows, ends), strict=True)))
        return len(done)

    def _rows(self, namespace: Namespace, keys: Sequence[bytes], made: Mapping[bytes, Row], mean: Row | None) -> Rows:
        """The stored vectors of these passages."""
        if mean is None:
            rows = np.array([made[key] for key in keys], np.float32)
            return centred(rows, self._first_mean(namespace, rows))
        if made:
            self._seen.add(made, centred(np.array(list(made.values()), np.float32), mean))
        return self._seen.rows(keys)

    def _embedded(self, texts: Mapping[bytes, str], run: Map) -> dict[bytes, Row]:
        """Vectors of these texts, as far as time allows."""
        # Texts of similar length are run together.
        new = sorted(texts.items(), key=lambda item: len(item[1]))
        steps = [new[at : at + self._step] for at in range(0, len(new), self._step)]
        made: dict[bytes, Row] = {}
        self._longest_s = 0.0
        for step, rows in zip(steps, run(self._vectors, steps), strict=True):
            if rows is not None:
                made.update(zip((key for key, _ in step), rows, strict=True))
        self._step = _next_step(self._step, self._longest_s)
        return made

    def _vectors(self, step: Step) -> Rows | None:
        """``None`` after a stop, and when the model failed."""
        if self._stop.is_set() or self._failure is not None:
            return None
        self._give_way()
        began = time.thread_time()
        try:
            return self._embedder.embed([self._embedder.passage_prefix + text for _, text in step])
        except OvilloError as error:
            self._failure = error
            return None
        finally:
            self._longest_s = max(self._longest_s, time.thread_time() - began)

    def _first_mean(self, namespace: Namespace, rows: Rows) -> Row | None:
        """The mean to subtract: fixed once enough passages were seen, because stored vectors depend on it."""
        before = self._store.vectors.stored(namespace, self.name)
        everything = np.concatenate([*(vectors for _, vectors in before), unit(rows)])
        if len(everything) < MEAN_NEEDS:
            return None
        frame = make_frame(everything, self._embedder)
        mean = frame.mean
        keep_frame(self._store.vectors, namespace, self.name, frame)
        self._store.vectors.put(namespace, self.name, [(doc, centred(vectors, mean)) for doc, vectors in before])
        return mean


def _next_piece(size: int, took_s: float) -> int:
    if took_s > _LONG_S:
        return max(_LEAST_WRITTEN, size // 2)
    return min(_WRITTEN, size * 2) if took_s < _LONG_S / 4 else size


def _next_step(size: int, longest_s: float) -> int:
    if longest_s > _LONG_STEP_S:
        return max(_LEAST_STEP, size // 2)
    return min(_MOST_STEP, size * 2) if longest_s < _LONG_STEP_S / 4 else size


def _key(namespace: Namespace, text: str) -> bytes:
    """Includes the namespace, whose mean is subtracted from the vector."""
    return hashlib.blake2b(f"{namespace}\0{text}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
