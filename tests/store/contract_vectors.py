"""What every store must do with vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ovillo.model.errors import InvalidInput
from ovillo.model.records import DEFAULT_NAMESPACE, Message, Namespace, Role, SessionId
from ovillo.model.sessions import SessionFilter
from ovillo.store.protocol import DocFilter, Store, VectorStore
from tests.builders import delta, message, session

NS, OTHER = DEFAULT_NAMESPACE, Namespace("team")
SIZE = 64
HERE = DocFilter()


@pytest.fixture
def vectors(store: Store) -> VectorStore:
    return store.vectors


def towards(*axes: int) -> np.ndarray:
    """A row of unit length that points along these axes."""
    row = np.full((1, SIZE), -0.01, np.float32)
    row[0, list(axes)] = 1.0
    return row / np.linalg.norm(row)


def said(number: int, name: str, **fields: Any) -> Message:
    return message(f"m{number}", number, f"{name} words that people said", **fields)


def embed(vectors: VectorStore, namespace: Namespace, model: str, **rows: np.ndarray) -> dict[str, int]:
    """Vectors for what waits; the documents. Both by the first word of the text."""
    waiting = {text.split()[0]: doc for doc, text in vectors.not_embedded(namespace, model, 5_000)}
    vectors.put(namespace, model, [(waiting[text], row) for text, row in rows.items()])
    return waiting


@pytest.mark.requirement("STORE-17")
def test_vectors_belong_to_one_model_and_leave_with_their_text(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "first"), said(2, "second"))])
    assert [text.split()[0] for _, text in vectors.not_embedded(NS, "mini", 9)] == ["second", "first"]
    docs = embed(vectors, NS, "mini", first=towards(1), second=towards(2))
    assert vectors.share(NS, "mini") == (2, 2)
    assert vectors.share(NS, "other") == (0, 2)
    assert vectors.not_embedded(NS, "mini", 9) == []
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"], docs["second"]]
    assert vectors.nearest(NS, "other", towards(1)[0], HERE, 9) == {}
    store.ingest.apply(NS, [delta(said(1, "first and then changed"))])
    assert vectors.share(NS, "mini") == (1, 2)
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["second"]]


@pytest.mark.requirement("SEARCH-20")
def test_a_large_namespace_takes_no_place_among_the_nearest_of_a_small_one(store: Store, vectors: VectorStore) -> None:
    crowd = [said(n, f"crowd{n}") for n in range(1_500)]
    store.ingest.apply(OTHER, [delta(*crowd)])
    embed(vectors, OTHER, "mini", **{f"crowd{n}": towards(1) for n in range(1_500)})
    store.ingest.apply(NS, [delta(said(1, "near"), said(2, "far"))])
    docs = embed(vectors, NS, "mini", near=towards(1, 2), far=towards(3))
    found = vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)
    assert list(found) == [docs["near"], docs["far"]]
    assert found[docs["near"]] == pytest.approx(0.7, abs=0.1)
    assert vectors.share(NS, "mini") == (2, 2)
    assert vectors.share(OTHER, "mini") == (1_500, 1_500)
    assert vectors.nearest(Namespace("nobody"), "mini", towards(1)[0], HERE, 9) == {}


@pytest.mark.requirement("SEARCH-20")
def test_vectors_are_written_and_read_in_their_own_namespace_only(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "ours"))])
    store.ingest.apply(OTHER, [delta(said(1, "theirs"))])
    [(ours, _)] = vectors.not_embedded(NS, "mini", 9)
    [(theirs, text)] = vectors.not_embedded(OTHER, "mini", 9)
    assert text.startswith("theirs")
    vectors.put(NS, "mini", [(ours, towards(1)), (theirs, towards(1))])
    assert vectors.share(OTHER, "mini") == (0, 1)
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [ours]
    vectors.put(OTHER, "mini", [(theirs, towards(1))])
    assert vectors.cosines(NS, "mini", towards(1)[0], [ours, theirs]).keys() == {ours}
    assert [doc for doc, _ in vectors.stored(OTHER, "mini")] == [theirs]
    vectors.set_model_state(NS, "mini", {"mean": [1.0]})
    assert (vectors.model_state(NS, "mini"), vectors.model_state(OTHER, "mini")) == ({"mean": [1.0]}, {})


@pytest.mark.requirement("SEARCH-20")
def test_what_a_filter_keeps_out_takes_no_place_among_the_nearest(store: Store, vectors: VectorStore) -> None:
    crowd = [said(n, f"crowd{n}", of="ses_b") for n in range(1_500)]
    store.ingest.apply(NS, [delta(*crowd, about=session("ses_b"))])
    store.ingest.apply(NS, [delta(said(1, "question"), said(2, "answer", role=Role.ASSISTANT))])
    rows = {f"crowd{n}": towards(1) for n in range(1_500)}
    docs = embed(vectors, NS, "mini", question=towards(1, 2), answer=towards(1, 3), **rows)
    here = DocFilter(session=SessionFilter(session_ids=(SessionId("ses_a"),)))
    assert set(vectors.nearest(NS, "mini", towards(1)[0], here, 9)) == {docs["question"], docs["answer"]}
    answers = DocFilter(roles=(Role.ASSISTANT,))
    assert set(vectors.nearest(NS, "mini", towards(1)[0], answers, 9)) == {docs["answer"]}


@pytest.mark.requirement("STORE-17")
def test_a_document_is_as_near_as_the_nearest_of_its_vectors(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "long"), said(2, "short"))])
    docs = embed(vectors, NS, "mini", long=np.concatenate([towards(5), towards(1), towards(6)]), short=towards(1, 2))
    found = vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)
    assert list(found) == [docs["long"], docs["short"]]
    assert found[docs["long"]] == pytest.approx(1.0, abs=0.05)
    [(_, rows), _] = vectors.stored(NS, "mini")
    assert rows.shape == (3, SIZE)


@pytest.mark.requirement("STORE-17")
def test_what_was_written_or_removed_since_the_last_question_counts(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "first")), delta(said(2, "second", of="ses_b"), about=session("ses_b"))])
    docs = embed(vectors, NS, "mini", first=towards(1))
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"]]
    vectors.put(NS, "mini", [(docs["second"], towards(1, 2))])
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"], docs["second"]]
    vectors.put(NS, "mini", [(docs["first"], towards(3))])
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["second"], docs["first"]]
    store.recording.delete(NS, SessionId("ses_b"), at=1)
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"]]


@pytest.mark.requirement("STORE-17")
def test_a_model_whose_vectors_change_their_length_is_refused_and_compared_with_nothing(
    store: Store, vectors: VectorStore
) -> None:
    store.ingest.apply(NS, [delta(said(1, "first"))])
    docs = embed(vectors, NS, "mini", first=towards(1))
    with pytest.raises(InvalidInput, match="another name"):
        vectors.put(NS, "mini", [(docs["first"], np.ones((1, 32), np.float32))])
    assert vectors.nearest(NS, "mini", np.ones(32, np.float32), HERE, 9) == {}
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"]]


@pytest.mark.requirement("STORE-17")
def test_each_vector_of_a_document_is_compared_by_itself_and_in_order(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "first"), said(2, "second"))])
    both = np.concatenate([towards(1), towards(2)])
    docs = embed(vectors, NS, "mini", first=both, second=towards(3))
    found = vectors.passage_cosines(NS, "mini", towards(2)[0], list(docs.values()))
    assert [round(x) for x in found[docs["first"]]] == [0, 1]
    assert [round(x) for x in found[docs["second"]]] == [0]
    assert vectors.passage_cosines(OTHER, "mini", towards(2)[0], list(docs.values())) == {}
    assert vectors.passage_cosines(NS, "other", towards(2)[0], list(docs.values())) == {}


@pytest.mark.requirement("STORE-18")
def test_vectors_stay_when_the_text_index_is_made_again(store: Store, vectors: VectorStore) -> None:
    store.ingest.apply(NS, [delta(said(1, "first"), said(2, "second"), about=session(title="A title"))])
    docs = embed(vectors, NS, "mini", first=towards(1), second=towards(2))
    store.text.rebuild()
    assert list(vectors.nearest(NS, "mini", towards(1)[0], HERE, 9)) == [docs["first"], docs["second"]]
