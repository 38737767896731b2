"""What every store must do for knowledge documents. A store's own test file imports all of this."""

from __future__ import annotations

import numpy as np
import pytest

from ovillo.model.knowledge import KnowledgeStamp, KnowledgeVector, NewChunk
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.store.protocol import Store

NS = DEFAULT_NAMESPACE
_STAMP = KnowledgeStamp(10, 20, b"d" * 32, "cut")


def _chunk(number: int, text: str, meaning: bytes | None = None) -> NewChunk:
    return NewChunk(
        number, number * 10 + 1, number * 10 + 9, 5, bytes([number]) * 32, meaning or bytes([number]) * 16, text
    )


def _put(store: Store, path: str, *texts: str, of: Namespace = NS) -> None:
    chunks = [_chunk(number, text) for number, text in enumerate(texts)]
    store.knowledge.put(of, path, _STAMP, chunks, name="model", lines=30, at=5)


@pytest.mark.requirement("KNOW-1")
def test_documents_are_listed_replaced_and_named_apart(store: Store) -> None:
    _put(store, "/a/model.md", "alpha beta", "gamma")
    _put(store, "/b/model.md", "delta")
    assert [(d.name, d.chunks, d.stamp, d.lines) for d in store.knowledge.documents(NS)] == [
        ("model", 2, _STAMP, 30),
        ("model-2", 1, _STAMP, 30),
    ]
    assert [c.chunk_id for c in store.knowledge.chunks(NS, path="/a/model.md")] == ["model_0", "model_1"]
    _put(store, "/a/model.md", "omega")
    assert [d.name for d in store.knowledge.documents(NS)] == ["model", "model-2"]
    assert store.knowledge.matches(NS, [["alpha"]], 9) == []
    assert len(store.knowledge.matches(NS, [["omega"], ["delta"]], 9)) == 2
    assert store.knowledge.frequency(NS, [["omega", "delta"], ["alpha"]]) == ([2, 0], 2)
    assert store.knowledge.remove(NS, "/a/model.md", at=6)
    assert not store.knowledge.remove(NS, "/a/model.md", at=7)
    assert store.knowledge.matches(NS, [["omega"]], 9) == []


@pytest.mark.requirement("KNOW-1")
def test_vectors_are_kept_by_what_was_embedded_and_dropped_with_the_last_chunk_of_it(store: Store) -> None:
    _put(store, "/a.md", "alpha", "beta")
    waiting, count = store.knowledge.to_embed(NS, "m", 1)
    assert (len(waiting), count) == (1, 2)
    before = store.knowledge.revision(NS)
    rows = [KnowledgeVector(bytes([n]) * 16, b"ww", b"bits" * 2, b"values") for n in (0, 1)]
    store.knowledge.put_vectors(NS, "m", rows)
    assert store.knowledge.revision(NS) > before
    assert store.knowledge.to_embed(NS, "m", 9) == ([], 0)
    assert store.knowledge.to_embed(NS, "other", 9)[1] == 2
    keys, bits = store.knowledge.bits(NS, "m", 4)
    assert (len(set(map(int, keys))), bits.shape) == (2, (4, 4))
    assert bits.dtype == np.uint8
    _put(store, "/a.md", "alpha")
    (chunk,) = store.knowledge.chunks(NS)
    assert store.knowledge.vectors(NS, "m", [chunk.key]) == {chunk.key: rows[0]}
    _put(store, "/a.md", "alpha", "beta")
    assert store.knowledge.to_embed(NS, "m", 9)[1] == 1


@pytest.mark.requirement("KNOW-10")
def test_knowledge_stays_in_its_namespace_and_is_logged(store: Store) -> None:
    other = Namespace("other")
    _put(store, "/a.md", "alpha")
    _put(store, "/a.md", "alpha", of=other)
    assert store.knowledge.remove(other, "/a.md", at=9)
    assert len(store.knowledge.matches(NS, [["alpha"]], 9)) == 1
    assert store.knowledge.matches(other, [["alpha"]], 9) == []
    assert store.knowledge.chunks(other, keys=[c.key for c in store.knowledge.chunks(NS)]) == []
    assert [(x.kind, x.ref) for x in store.changes.since(NS, 0, 9)] == [("knowledge", "/a.md")]


def test_a_document_that_cannot_be_read_keeps_its_reason_until_it_is_put_again(store: Store) -> None:
    _put(store, "/a.md", "alpha")
    store.knowledge.restamp(NS, "/a.md", _STAMP, "missing")
    assert [d.problem for d in store.knowledge.documents(NS)] == ["missing"]
    _put(store, "/a.md", "alpha")
    assert [d.problem for d in store.knowledge.documents(NS)] == [None]
    assert store.knowledge.matches(NS, [['al"pha', "\0"], []], 9) == []
