"""Knowledge documents."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from ovillo.model.knowledge import (
    ChunkKey,
    KnowledgeChunk,
    KnowledgeDocument,
    KnowledgeStamp,
    KnowledgeVector,
    NewChunk,
)
from ovillo.model.records import Namespace
from ovillo.store.forms import Rows
from tests.store.memory.state import IndexedChunk, Space
from tests.store.memory.stored import stored
from tests.store.memory.substore import SubStore


class Knowledge(SubStore):
    def put(
        self,
        namespace: Namespace,
        path: str,
        stamp: KnowledgeStamp,
        chunks: Sequence[NewChunk],
        *,
        name: str,
        lines: int,
        at: int,
    ) -> KnowledgeDocument:
        with self._state.writing_to(namespace) as space:
            known = space.documents.get(path)
            taken = {document.name for document in space.documents.values()}
            free = (each for each in _numbered(name) if each not in taken)
            document = KnowledgeDocument(
                path,
                known.name if known else next(free),
                stamp,
                lines,
                len(chunks),
                known.added_at if known else at,
                at,
            )
            space.documents[path] = stored(document)
            space.chunks = {key: chunk for key, chunk in space.chunks.items() if chunk.chunk.path != path}
            for new in map(stored, chunks):
                key = self._state.number()
                terms = tuple(self._state.analyzer.index_terms(new.text)[0].split())
                chunk = KnowledgeChunk(
                    *(key, path, f"{document.name}_{new.number}", new.start_line, new.end_line, new.tokens),
                    *(new.text_hash, new.meaning),
                )
                space.chunks[key] = IndexedChunk(chunk, terms)
            _changed(space)
            space.log("knowledge", [path], at)
            return space.documents[path]

    def restamp(self, namespace: Namespace, path: str, stamp: KnowledgeStamp, problem: str | None) -> None:
        with self._state.writing_to(namespace) as space:
            if document := space.documents.get(path):
                space.documents[path] = stored(replace(document, stamp=stamp, problem=problem))
            _changed(space)

    def remove(self, namespace: Namespace, path: str, *, at: int) -> bool:
        with self._state.writing_to(namespace) as space:
            if space.documents.pop(path, None) is None:
                return False
            space.chunks = {key: chunk for key, chunk in space.chunks.items() if chunk.chunk.path != path}
            _changed(space)
            space.log("knowledge", [path], at)
            return True

    def documents(self, namespace: Namespace) -> list[KnowledgeDocument]:
        return [document for _, document in sorted(self._state.space(namespace).documents.items())]

    def chunks(
        self, namespace: Namespace, *, path: str | None = None, keys: Sequence[ChunkKey] | None = None
    ) -> list[KnowledgeChunk]:
        return [
            each.chunk
            for each in _in_order(self._state.space(namespace))
            if path in (None, each.chunk.path) and (keys is None or each.chunk.key in keys)
        ]

    def candidates(self, namespace: Namespace, groups: Sequence[Sequence[str]], limit: int) -> list[ChunkKey]:
        asked = {term for group in groups for term in group if term}
        held = {each.chunk.key: len(asked & set(each.terms)) for each in _in_order(self._state.space(namespace))}
        return sorted((key for key, terms in held.items() if terms), key=lambda key: -held[key])[:limit]

    def frequency(self, namespace: Namespace, groups: Sequence[Sequence[str]]) -> tuple[list[int], int]:
        chunks = list(_in_order(self._state.space(namespace)))
        return [sum(not set(group).isdisjoint(each.terms) for each in chunks) for group in groups], len(chunks)

    def to_embed(self, namespace: Namespace, model: str, limit: int) -> tuple[list[KnowledgeChunk], int]:
        space = self._state.space(namespace)
        vectors = space.knowledge_vectors.get(model, {})
        waiting = [
            each.chunk
            for each in _in_order(space)
            if space.documents[each.chunk.path].problem is None
            and (each.chunk.meaning not in vectors or not vectors[each.chunk.meaning].bits)
        ]
        return waiting[:limit], len(waiting)

    def put_vectors(self, namespace: Namespace, model: str, rows: Sequence[KnowledgeVector]) -> None:
        with self._state.writing_to(namespace) as space:
            space.knowledge_vectors.setdefault(model, {}).update({row.meaning: row for row in rows})

    def nearest(self, namespace: Namespace, model: str, rows: Rows, limit: int) -> list[ChunkKey]:
        size = rows.shape[1] // 8
        asked = [np.packbits(row > 0).tobytes() for row in rows]
        apart: dict[ChunkKey, int] = {}
        for key, vector in self.vectors(namespace, model, list(self._state.space(namespace).chunks)).items():
            passages = [vector.bits[at : at + size] for at in range(0, len(vector.bits), size)]
            if passages and len(vector.bits) % size == 0:
                apart[key] = min(_signs_apart(bits, other) for bits in passages for other in asked)
        return sorted(apart, key=lambda key: (apart[key], key))[:limit]

    def vectors(self, namespace: Namespace, model: str, keys: Sequence[ChunkKey]) -> dict[ChunkKey, KnowledgeVector]:
        vectors = self._state.space(namespace).knowledge_vectors.get(model, {})
        chunks = self.chunks(namespace, keys=keys)
        return {chunk.key: vectors[chunk.meaning] for chunk in chunks if chunk.meaning in vectors}


def _numbered(name: str) -> Iterator[str]:
    yield name
    for number in itertools.count(2):
        yield f"{name}-{number}"


def _changed(space: Space) -> None:
    """Vectors no chunk refers to any more are dropped."""
    meanings = {each.chunk.meaning for each in space.chunks.values()}
    for model, vectors in space.knowledge_vectors.items():
        space.knowledge_vectors[model] = {name: row for name, row in vectors.items() if name in meanings}


def _in_order(space: Space) -> list[IndexedChunk]:
    return sorted(space.chunks.values(), key=lambda each: (each.chunk.path, each.chunk.start_line, each.chunk.key))


def _signs_apart(one: bytes, other: bytes) -> int:
    return (int.from_bytes(one) ^ int.from_bytes(other)).bit_count()
