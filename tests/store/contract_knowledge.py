"""What every store must do for knowledge documents. A store's own test file imports all of this."""

from __future__ import annotations

import numpy as np
import pytest

from ovillo.model.knowledge import KnowledgeStamp, KnowledgeVector, NewChunk
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.store.forms import pack
from ovillo.store.protocol import KnowledgeStore, Store

NS = DEFAULT_NAMESPACE
_STAMP = KnowledgeStamp(10, 20, b"d" * 32, "cut")


@pytest.fixture
def knowledge(store: Store) -> KnowledgeStore:
    return store.knowledge


def _chunk(number: int, text: str, meaning: bytes | None = None) -> NewChunk:
    return NewChunk(
        number, number * 10 + 1, number * 10 + 9, 5, bytes([number]) * 32, meaning or bytes([number]) * 16, text
    )


def _put(knowledge: KnowledgeStore, path: str, *texts: str, of: Namespace = NS) -> None:
    chunks = [_chunk(number, text) for number, text in enumerate(texts)]
    knowledge.put(of, path, _STAMP, chunks, name="model", lines=30, at=5)


@pytest.mark.requirement("KNOW-1")
def test_documents_are_listed_replaced_and_named_apart(knowledge: KnowledgeStore) -> None:
    _put(knowledge, "/a/model.md", "alpha beta", "gamma")
    _put(knowledge, "/b/model.md", "delta")
    assert [(d.name, d.chunks, d.stamp, d.lines) for d in knowledge.documents(NS)] == [
        ("model", 2, _STAMP, 30),
        ("model-2", 1, _STAMP, 30),
    ]
    assert [c.chunk_id for c in knowledge.chunks(NS, path="/a/model.md")] == ["model_0", "model_1"]
    _put(knowledge, "/a/model.md", "omega")
    assert [d.name for d in knowledge.documents(NS)] == ["model", "model-2"]
    assert knowledge.candidates(NS, [["alpha"]], 9) == []
    assert len(knowledge.candidates(NS, [["omega"], ["delta"]], 9)) == 2
    assert knowledge.frequency(NS, [["omega", "delta"], ["alpha"]]) == ([2, 0], 2)
    assert knowledge.remove(NS, "/a/model.md", at=6)
    assert not knowledge.remove(NS, "/a/model.md", at=7)
    assert knowledge.candidates(NS, [["omega"]], 9) == []


@pytest.mark.requirement("KNOW-1")
def test_vectors_are_kept_by_what_was_embedded_and_dropped_with_the_last_chunk_of_it(knowledge: KnowledgeStore) -> None:
    _put(knowledge, "/a.md", "alpha", "beta")
    waiting, count = knowledge.to_embed(NS, "m", 1)
    assert (len(waiting), count) == (1, 2)
    rows = [KnowledgeVector(bytes([n]) * 16, b"ww", b"bits" * 2, b"values") for n in (0, 1)]
    knowledge.put_vectors(NS, "m", rows)
    assert knowledge.to_embed(NS, "m", 9) == ([], 0)
    assert knowledge.to_embed(NS, "other", 9)[1] == 2
    _put(knowledge, "/a.md", "alpha")
    (chunk,) = knowledge.chunks(NS)
    assert knowledge.vectors(NS, "m", [chunk.key]) == {chunk.key: rows[0]}
    _put(knowledge, "/a.md", "alpha", "beta")
    assert knowledge.to_embed(NS, "m", 9)[1] == 1


@pytest.mark.requirement("KNOW-1")
def test_the_nearest_chunks_come_first_whatever_passage_of_them_is_near(knowledge: KnowledgeStore) -> None:
    _put(knowledge, "/a.md", "alpha", "beta", "gamma")
    chunks, _ = knowledge.to_embed(NS, "m", 9)
    far, near, exact = [1.0] * 24 + [-1.0] * 8, [1.0] * 3 + [-1.0] * 29, [-1.0] * 32

    def passages(*rows: list[float]) -> bytes:
        return b"".join(bits for bits, _ in pack(np.array(rows, np.float32)))

    rows = [passages(far, near), passages(far), passages(exact, far)]
    knowledge.put_vectors(
        NS, "m", [KnowledgeVector(chunk.meaning, b"", bits, b"") for chunk, bits in zip(chunks, rows, strict=True)]
    )
    asked = np.array([exact], np.float32)
    keys = [chunk.key for chunk in chunks]
    assert knowledge.nearest(NS, "m", asked, 9) == [keys[2], keys[0], keys[1]]
    assert knowledge.nearest(NS, "m", asked, 1) == [keys[2]]
    assert knowledge.nearest(NS, "m", np.array([exact * 3], np.float32), 9) == []
    assert knowledge.nearest(NS, "other", asked, 9) == []
    assert knowledge.nearest(Namespace("other"), "m", asked, 9) == []
    _put(knowledge, "/a.md", "alpha", "beta")
    assert len(knowledge.nearest(NS, "m", asked, 9)) == 2


@pytest.mark.requirement("KNOW-10")
def test_knowledge_stays_in_its_namespace_and_is_logged(store: Store, knowledge: KnowledgeStore) -> None:
    other = Namespace("other")
    _put(knowledge, "/a.md", "alpha")
    _put(knowledge, "/a.md", "alpha", of=other)
    assert knowledge.remove(other, "/a.md", at=9)
    assert len(knowledge.candidates(NS, [["alpha"]], 9)) == 1
    assert knowledge.candidates(other, [["alpha"]], 9) == []
    assert knowledge.chunks(other, keys=[c.key for c in knowledge.chunks(NS)]) == []
    assert [(x.kind, x.ref) for x in store.changes.since(NS, 0, 9)] == [("knowledge", "/a.md")]


def test_a_document_that_cannot_be_read_keeps_its_reason_until_it_is_put_again(knowledge: KnowledgeStore) -> None:
    _put(knowledge, "/a.md", "alpha")
    knowledge.restamp(NS, "/a.md", _STAMP, "missing")
    assert [d.problem for d in knowledge.documents(NS)] == ["missing"]
    _put(knowledge, "/a.md", "alpha")
    assert [d.problem for d in knowledge.documents(NS)] == [None]
    assert knowledge.candidates(NS, [['al"pha', "\0"], []], 9) == []
