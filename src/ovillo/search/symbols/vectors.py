"""Definitions by meaning: vectors of their descriptions, and which are nearest to a question.

Owns which definitions get vectors, and making them (in the background or on demand). ``gist`` makes the text to embed,
the store keeps and compares vectors, ``service`` ranks the results.
"""

from __future__ import annotations

import threading
import time
from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
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
from ovillo.search.lexicon import lexicon, prose_lexicon
from ovillo.search.symbols.gist import gist

if TYPE_CHECKING:
    from ovillo.code.service import CodeIndex
    from ovillo.search.embedders import Embedder
    from ovillo.settings import Settings
    from ovillo.store.forms import Row
    from ovillo.store.protocol import Store

#: Bytes of a hash.
_DIGEST = 12
#: Definitions of one folder that get vectors, public ones first.
MOST = 40_000
#: Folders whose definitions are cached by hash.
_HELD = 3
#: Questions whose vectors are cached.
_ASKED = 8
#: Rows read at once: those of a large folder all at once are 100 MB, most of which would stay with the process.
_BATCH = 1_000
#: Texts embedded between two checks for a stop, vectors written at once.
_STEP, _WRITTEN = 32, 512
#: How long the model is left alone after a failure (seconds).
_FAILED_S = 60.0

#: ``(embedded, all)`` definitions.
OnProgress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Near:
    """A definition with its ``cosine`` to the question."""

    symbol_id: int
    cosine: float


class _Some:
    """Ids and hashes of definitions; more than ``MOST`` are only counted as that."""

    def __init__(self) -> None:
        self.ids = array("q")
        self.meanings = bytearray()

    def __len__(self) -> int:
        return len(self.ids)

    def add(self, id_: int, meaning: bytes) -> None:
        if len(self.ids) <= MOST:
            self.ids.append(id_)
            self.meanings += meaning


@dataclass(frozen=True, slots=True)
class _Definitions:
    """Sorted hashes of the indexed facts of a folder's definitions, and the id of each: 20 bytes a definition."""

    revision: int
    meanings: NDArray[np.bytes_]
    ids: NDArray[np.int64]

    def of(self, meaning: bytes) -> list[int]:
        first, end = (int(np.searchsorted(self.meanings, meaning, side=side)) for side in ("left", "right"))
        found: list[int] = self.ids[first:end].tolist()
        return found


class SymbolVectors:
    """Thread-safe. Finds nothing without an embedder."""

    def __init__(self, store: Store, settings: Settings, code: CodeIndex) -> None:
        self._store = store
        self._code = code
        self._settings = settings
        self._model = model_id(settings)
        self._embedder: Embedder | None = None
        self._held: OrderedDict[tuple[Namespace, str], _Definitions] = OrderedDict()
        self._done: dict[Namespace, int] = {}
        self._lock = threading.Lock()
        self._failed_at = -_FAILED_S
        #: Vectors of the last questions: one question about code looks for its subject, for tests and in each folder.
        self._asked: OrderedDict[tuple[str, ...], Row] = OrderedDict()

    @property
    def is_on(self) -> bool:
        return self._model is not None

    # --- making

    def wait(self, namespace: Namespace) -> bool:
        """Whether definitions may lack vectors since the index changed."""
        return self._model is not None and self._done.get(namespace) != self._store.code.revision(namespace)

    def embed_all(
        self, namespace: Namespace, stop: threading.Event | None = None, progress: OnProgress | None = None
    ) -> int:
        """Embed what has no vector yet in all folders; returns the number of definitions that got one. Raises
        UpstreamError."""
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
        definitions = self._read(namespace, root, 0)
        known = self._store.code_vectors.known(namespace, root, self._model)
        gone = [meaning for meaning in known if not definitions.of(meaning)]
        chosen = self._waiting(namespace, root, definitions, known)
        left = list(chosen)
        left.sort(key=lambda meaning: chosen[meaning].is_test)
        if not left and not gone:
            return 0
        embedder = self._opened()
        lines = _Lines(self._code, namespace, root)
        made: dict[bytes, Row] = {}
        for at in range(0, len(left), _STEP):
            if stop is not None and stop.is_set():
                break
            some = left[at : at + _STEP]
            texts = [gist(chosen[meaning], lines.of(chosen[meaning].file)) for meaning in some]
            rows = embedder.embed([embedder.passage_prefix + text for text in texts])
            made.update(zip(some, map(_unit, rows), strict=True))
            if len(made) >= _WRITTEN:
                self._store.code_vectors.put(namespace, root, self._model, made)
                made = {}
            if progress:
                progress(at + len(some), len(left))
        self._store.code_vectors.put(namespace, root, self._model, made, gone)
        return len(left)

    # --- asking

    def nearest(self, namespace: Namespace, root: str, question: str, most: int, put: str = "") -> list[Near]:
        """Nearest first; empty for a folder without vectors, or while the model does not answer. ``put`` is the
        question in the folder's own words."""
        if self._model is None or time.monotonic() - self._failed_at < _FAILED_S:
            return []
        if not self._store.code_vectors.has_any(namespace, root, self._model):
            return []
        try:
            row = self._row(_glosses(question, put))
        except OvilloError:
            self._failed_at = time.monotonic()
            return []
        found = self._store.code_vectors.nearest(namespace, root, self._model, row, most)
        with self._lock:
            definitions = self._fresh(namespace, root)
        near = (Near(id_, cosine) for meaning, cosine in found.items() for id_ in definitions.of(meaning))
        return list(islice(near, most))

    def _row(self, glosses: Sequence[str]) -> Row:
        """The question's vector, from all its glosses. Raises OvilloError."""
        key = tuple(glosses)
        with self._lock:
            if (known := self._asked.get(key)) is not None:
                self._asked.move_to_end(key)
                return known
        embedder = self._opened()
        queries = [embedder.query_prefix + gloss for gloss in glosses]
        row = _unit(np.sum([_unit(one) for one in embedder.embed(queries)], axis=0))
        with self._lock:
            self._asked[key] = row
            while len(self._asked) > _ASKED:
                self._asked.popitem(last=False)
        return row

    def _fresh(self, namespace: Namespace, root: str) -> _Definitions:
        key = (namespace, root)
        revision = self._store.code.revision(namespace)
        cached = self._held.get(key)
        if cached is None or cached.revision != revision:
            cached = self._held[key] = self._read(namespace, root, revision)
        self._held.move_to_end(key)
        while len(self._held) > _HELD:
            self._held.popitem(last=False)
        return cached

    def _read(self, namespace: Namespace, root: str, revision: int) -> _Definitions:
        """Definitions that get vectors: all, in a large folder without tests, and in a larger one only public ones."""
        every, without_tests, public = choices = _Some(), _Some(), _Some()
        for row in self._symbols(namespace, root):
            meaning = meaning_of(row)
            every.add(row.id, meaning)
            if not row.is_test:
                without_tests.add(row.id, meaning)
            if _is_open(row):
                public.add(row.id, meaning)
                if len(public) == MOST and len(without_tests) > MOST:
                    break
        chosen = next((some for some in choices if len(some) <= MOST), public)
        meanings = np.frombuffer(chosen.meanings, f"S{_DIGEST}")[:MOST]
        order = np.argsort(meanings, kind="stable")
        return _Definitions(revision, meanings[order], np.frombuffer(chosen.ids, np.int64)[:MOST][order])

    def _waiting(
        self, namespace: Namespace, root: str, definitions: _Definitions, known: Collection[bytes]
    ) -> dict[bytes, SymbolRow]:
        """Those without a vector."""
        chosen = frozenset(definitions.ids.tolist())
        rows = ((meaning_of(row), row) for row in self._symbols(namespace, root) if row.id in chosen)
        return {meaning: row for meaning, row in rows if meaning not in known}

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


def _glosses(question: str, put: str) -> list[str]:
    """The question in English, which the default model knows best: by the everyday list, by the developers' list, and
    in the folder's words. More often than a single one, one of them takes a word in the right sense."""
    glosses = (prose_lexicon().in_english(question), lexicon().in_english(question))
    foreign = [one for one in glosses if one is not None]
    return list(dict.fromkeys([*foreign, put] if foreign and put else foreign)) or [question]


def _is_open(symbol: SymbolRow) -> bool:
    return symbol.is_exported and not symbol.is_test and not symbol.name.startswith("_")


def meaning_of(symbol: SymbolRow) -> bytes:
    """Hash of all that the index knows of it, which changes when it must be embedded again. A changed body of the same
    length, name and documentation counts as unchanged."""
    fields = (
        symbol.file,
        symbol.qualified_name,
        symbol.signature,
        symbol.doc,
        str(symbol.end_line - symbol.start_line),
    )
    return blake2b("\n".join(fields).encode("utf-8", "replace"), digest_size=_DIGEST).digest()


class _Lines:
    """The lines of one file after another, secrets masked; none for a deleted file."""

    def __init__(self, code: CodeIndex, namespace: Namespace, root: str) -> None:
        self._code = code
        self._namespace = namespace
        self._root = root
        self._file = ""
        self._lines: list[str] = []

    def of(self, file: str) -> list[str]:
        if file != self._file:
            try:
                self._lines = self._code.source(self._namespace, self._root, file).text.split("\n")
            except OvilloError:
                self._lines = []
            self._file = file
        return self._lines


def _unit(row: Row) -> Row:
    return np.asarray(row / (float(np.linalg.norm(row)) or 1.0), np.float32)
