"""Definitions by meaning: vectors of their names and documentation, and which are nearest to a question.

Owns what is embedded of a definition, making vectors (in the background or on demand), and holding those of the folders
that are asked. Ranking them beside words is ``service``'s.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ovillo.model.code import SymbolRow
from ovillo.model.errors import OvilloError
from ovillo.model.records import Namespace
from ovillo.search.embedders import model_id, open_embedder
from ovillo.search.lexicon import lexicon
from ovillo.search.symbols.terms import pieces

if TYPE_CHECKING:
    from ovillo.search.embedders import Embedder
    from ovillo.settings import Settings
    from ovillo.store.protocol import Store

Floats = NDArray[np.float32]

#: Definitions of one folder that get vectors, those that are open to others first: 1.5 KB of memory each.
MOST = 40_000
#: Folders held.
_HELD = 3
_BATCH = 10_000
#: Texts embedded between two looks at the stop sign, vectors written at once.
_STEP, _WRITTEN = 32, 512
_DOC_CHARS = 300
#: A byte holds a component of a unit vector as this many steps per 1.0: all but a few are below 0.3.
_SCALE = 400.0
#: After a failure the model is left alone for so long (seconds).
_FAILED_S = 60.0
_LOOK_AGAIN_S = 20.0

#: ``(embedded, all)`` definitions.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Near:
    """``cosine`` of a definition with the question."""

    symbol_id: int
    cosine: float


@dataclass(slots=True)
class _LoadedVectors:
    revision: int
    ids: list[int]
    rows: Floats
    #: Definitions that should have a vector, and when this was read: vectors that are still being made are looked for again.
    wanted: int
    read_at: float


class SymbolVectors:
    """Thread-safe. Without an embedder nothing is ever near."""

    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._settings = settings
        self._model = model_id(settings)
        self._embedder: Embedder | None = None
        self._held: OrderedDict[tuple[Namespace, str], _LoadedVectors] = OrderedDict()
        self._done: dict[Namespace, int] = {}
        self._lock = threading.Lock()
        self._failed_at = -_FAILED_S

    # --- making

    def wait(self, namespace: Namespace) -> bool:
        """Whether definitions may be without vectors since the index changed."""
        return self._model is not None and self._done.get(namespace) != self._store.code.revision(namespace)

    def embed_all(
        self, namespace: Namespace, stop: threading.Event | None = None, progress: OnProgress | None = None
    ) -> int:
        """Embed what has no vector yet in all folders; how many definitions got one. Raises UpstreamError."""
        if self._model is None:
            return 0
        revision = self._store.code.revision(namespace)
        done = 0
        for root in self._store.code.root_paths(namespace):
            done += self._embed(namespace, root, stop, progress)
            if stop is not None and stop.is_set():
                return done
        self._done[namespace] = revision
        return done

    def _embed(self, namespace: Namespace, root: str, stop: threading.Event | None, progress: OnProgress | None) -> int:
        assert self._model is not None
        texts = {meaning_of(text): text for text in map(text_of, self._chosen(namespace, root))}
        known = self._store.code_vectors.get(namespace, root, self._model)
        gone = [meaning for meaning in known if meaning not in texts]
        left = [meaning for meaning in texts if meaning not in known]
        if not left and not gone:
            return 0
        embedder = self._opened()
        made: dict[bytes, bytes] = {}
        for at in range(0, len(left), _STEP):
            if stop is not None and stop.is_set():
                break
            some = left[at : at + _STEP]
            rows = embedder.embed([embedder.passage_prefix + texts[meaning] for meaning in some])
            made.update(zip(some, map(_packed, rows), strict=True))
            if len(made) >= _WRITTEN:
                self._store.code_vectors.put(namespace, root, self._model, made)
                made = {}
            if progress:
                progress(at + len(some), len(left))
        self._store.code_vectors.put(namespace, root, self._model, made, gone)
        with self._lock:
            self._held.pop((namespace, root), None)
        return len(left)

    # --- asking

    def nearest(self, namespace: Namespace, root: str, question: str, most: int) -> list[Near]:
        """Nearest first; nothing for a folder without vectors, or while the model does not answer."""
        if self._model is None or time.monotonic() - self._failed_at < _FAILED_S:
            return []
        with self._lock:
            held = self._fresh(namespace, root)
        if not held.ids:
            return []
        try:
            embedder = self._opened()
            # The default model knows English best.
            asked = lexicon().in_english(question) or question
            row = embedder.embed([embedder.query_prefix + asked])[0]
        except OvilloError:
            self._failed_at = time.monotonic()
            return []
        cosines = held.rows @ (row / (float(np.linalg.norm(row)) or 1.0))
        best = np.argsort(-cosines)[:most]
        return [Near(held.ids[at], float(cosines[at])) for at in best]

    def _fresh(self, namespace: Namespace, root: str) -> _LoadedVectors:
        key = (namespace, root)
        revision = self._store.code.revision(namespace)
        held = self._held.get(key)
        is_stale = held is not None and len(held.ids) < held.wanted and time.monotonic() - held.read_at > _LOOK_AGAIN_S
        if held is None or held.revision != revision or is_stale:
            held = self._held[key] = self._read(namespace, root, revision)
        self._held.move_to_end(key)
        while len(self._held) > _HELD:
            self._held.popitem(last=False)
        return held

    def _read(self, namespace: Namespace, root: str, revision: int) -> _LoadedVectors:
        assert self._model is not None
        known = self._store.code_vectors.get(namespace, root, self._model)
        ids: list[int] = []
        rows: list[bytes] = []
        # Without vectors the folder is not read; whether there are any is looked at again.
        chosen = self._chosen(namespace, root) if known else []
        for symbol in chosen:
            vector = known.get(meaning_of(text_of(symbol)))
            if vector is not None:
                ids.append(symbol.id)
                rows.append(vector)
        matrix = np.frombuffer(b"".join(rows), np.int8).reshape(len(rows), -1) if rows else np.zeros((0, 1), np.int8)
        return _LoadedVectors(revision, ids, (matrix / _SCALE).astype(np.float32), len(chosen) or 1, time.monotonic())

    def _chosen(self, namespace: Namespace, root: str) -> list[SymbolRow]:
        """What gets vectors: no tests, and in a large folder what others may use."""
        found = list(islice((row for row in self._symbols(namespace, root) if not row.is_test), MOST + 1))
        if len(found) <= MOST:
            return found
        open_ones = (row for row in self._symbols(namespace, root) if _is_open(row))
        return list(islice(open_ones, MOST))

    def _symbols(self, namespace: Namespace, root: str) -> Iterator[SymbolRow]:
        after = 0
        while rows := self._store.code.symbols(namespace, root, after=after, limit=_BATCH):
            yield from rows
            after = rows[-1].id

    def _opened(self) -> Embedder:
        if self._embedder is None:
            self._embedder = open_embedder(self._settings)
        assert self._embedder is not None
        return self._embedder


def _is_open(symbol: SymbolRow) -> bool:
    return symbol.is_exported and not symbol.is_test and not symbol.name.startswith("_")


def text_of(symbol: SymbolRow) -> str:
    """What is embedded: the name in words, its owner's, the first sentence of its documentation."""
    owner = f" of {' '.join(pieces(symbol.parent))}" if symbol.parent else ""
    return f"{' '.join(pieces(symbol.name))}{owner}. {(symbol.doc or '')[:_DOC_CHARS]}"


def meaning_of(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "replace"), digest_size=12).digest()


def _packed(row: Floats) -> bytes:
    unit = row / (float(np.linalg.norm(row)) or 1.0)
    packed: bytes = np.clip(np.rint(unit * _SCALE), -127, 127).astype(np.int8).tobytes()
    return packed
