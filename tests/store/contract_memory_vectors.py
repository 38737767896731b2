"""What every store must do with vectors of memories. A store's own test file imports all of this."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ovillo.model.errors import InvalidInput
from ovillo.model.memories import Audience, Layer, Memory, MemoryFilter, MemoryId, MemoryState, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.store.protocol import MemoryVectorStore, Store

NS, OTHER = DEFAULT_NAMESPACE, Namespace("team")
SIZE = 64
ALL = MemoryFilter()


@pytest.fixture
def of_memories(store: Store) -> MemoryVectorStore:
    return store.memory_vectors


def memory(name: str, at: int = 10, **fields: object) -> Memory:
    kept = Memory(MemoryId(name), Layer.SEMANTIC, name, f"what {name} says", at, at)
    return replace(kept, **fields)  # type: ignore[arg-type]  # fields of a memory


def towards(*axes: int) -> np.ndarray:
    """A row of unit length that points along these axes."""
    row = np.full((1, SIZE), -0.01, np.float32)
    row[0, list(axes)] = 1.0
    return row / np.linalg.norm(row)


def near(of_memories: MemoryVectorStore, *axes: int, where: MemoryFilter = ALL, namespace: Namespace = NS) -> list[str]:
    return list(of_memories.nearest(namespace, "mini", towards(*axes)[0], where, 9))


@pytest.mark.requirement("LAYER-28")
def test_a_vector_belongs_to_one_model_and_one_namespace(store: Store, of_memories: MemoryVectorStore) -> None:
    one, two = memory("one", at=1), memory("two", at=2)
    store.memories.put(NS, [one, two])
    store.memories.put(OTHER, [one])
    assert [each.id for each in of_memories.not_embedded(NS, "mini", ALL, 9)] == ["two", "one"]
    of_memories.put(NS, "mini", [(one, towards(1)), (two, towards(2))])
    assert of_memories.not_embedded(NS, "mini", ALL, 9) == []
    assert [of_memories.share(NS, "mini", ALL), of_memories.share(NS, "other", ALL)] == [(2, 2), (0, 2)]
    assert of_memories.share(OTHER, "mini", ALL) == (0, 1)
    assert near(of_memories, 1) == ["one", "two"]
    assert near(of_memories, 2) == ["two", "one"]
    assert near(of_memories, 1, namespace=OTHER) == near(of_memories, 1, namespace=Namespace("nobody")) == []
    assert of_memories.nearest(NS, "other", towards(1)[0], ALL, 9) == {}
    assert of_memories.cosines(NS, "mini", towards(1)[0], [one.id, MemoryId("none")]) == {
        "one": pytest.approx(1.0, abs=0.05)
    }
    assert of_memories.cosines(OTHER, "mini", towards(1)[0], [one.id]) == {}


@pytest.mark.requirement("LAYER-28")
def test_a_vector_goes_with_the_words_it_is_of(store: Store, of_memories: MemoryVectorStore) -> None:
    one, two, three = memory("one"), memory("two"), memory("three")
    store.memories.put(NS, [one, two, three])
    of_memories.put(NS, "mini", [(one, towards(1)), (two, towards(1, 2)), (three, towards(1, 3))])
    of_memories.put(NS, "other", [(one, towards(1))])
    assert near(of_memories, 1)[0] == "one"
    store.memories.put(NS, [replace(one, text="now something else", updated_at=11), replace(two, uses=7)])
    assert set(near(of_memories, 1)) == {"two", "three"}
    assert [each.text for each in of_memories.not_embedded(NS, "mini", ALL, 9)] == ["now something else"]
    store.memories.remove(NS, [three.id], at=12)
    assert near(of_memories, 1) == ["two"]
    store.memories.put(NS, [replace(three, created_at=13)])
    assert of_memories.share(NS, "mini", ALL) == (1, 3)
    assert of_memories.share(NS, "other", ALL) == (0, 3)


@pytest.mark.requirement("LAYER-28")
def test_vectors_of_what_changed_meanwhile_or_is_gone_are_passed_over(
    store: Store, of_memories: MemoryVectorStore
) -> None:
    old = memory("one")
    store.memories.put(NS, [replace(old, text="said otherwise meanwhile")])
    of_memories.put(NS, "mini", [(old, towards(1)), (memory("nobody"), towards(1))])
    assert near(of_memories, 1) == []
    assert of_memories.share(NS, "mini", ALL) == (0, 1)


@pytest.mark.requirement("LAYER-28")
def test_what_does_not_fit_takes_no_place_among_the_nearest(store: Store, of_memories: MemoryVectorStore) -> None:
    crowd = [memory(f"crowd{n}", state=MemoryState.SUPERSEDED) for n in range(700)]
    hers = memory("hers", audience=Audience.PERSONAL, provenance=Provenance(owner="ana"))
    mine, over = memory("mine"), memory("over", expires_at=50)
    store.memories.put(NS, [*crowd, hers, mine, over])
    of_memories.put(NS, "mini", [(each, towards(1)) for each in (*crowd, hers, over)])
    of_memories.put(NS, "mini", [(mine, towards(1, 2))])
    active = MemoryFilter(states=(MemoryState.ACTIVE,), viewer="ben", alive_at=60)
    assert near(of_memories, 1, where=active) == ["mine"]
    assert of_memories.share(NS, "mini", active) == (1, 1)
    assert near(of_memories, 1, where=MemoryFilter(ids=(hers.id,))) == ["hers"]


@pytest.mark.requirement("LAYER-28")
def test_a_memory_is_as_near_as_the_nearest_of_its_vectors(store: Store, of_memories: MemoryVectorStore) -> None:
    long, short = memory("long"), memory("short")
    store.memories.put(NS, [long, short])
    of_memories.put(NS, "mini", [(long, np.concatenate([towards(5), towards(1), towards(6)])), (short, towards(1, 2))])
    assert near(of_memories, 1) == ["long", "short"]
    of_memories.put(NS, "mini", [(long, towards(7))])
    assert near(of_memories, 1) == ["short", "long"]


@pytest.mark.requirement("LAYER-28")
def test_memories_without_words_wait_for_no_vector(store: Store, of_memories: MemoryVectorStore) -> None:
    store.memories.put(NS, [memory("one", text="", value={"n": 1})])
    assert of_memories.not_embedded(NS, "mini", ALL, 9) == []
    assert of_memories.share(NS, "mini", ALL) == (0, 0)


@pytest.mark.requirement("LAYER-28")
def test_vectors_of_another_length_under_the_same_name_are_refused(
    store: Store, of_memories: MemoryVectorStore
) -> None:
    one = memory("one")
    store.memories.put(NS, [one])
    of_memories.put(NS, "mini", [(one, towards(1))])
    with pytest.raises(InvalidInput, match="another name"):
        of_memories.put(NS, "mini", [(one, np.ones((1, 32), np.float32))])
    assert of_memories.nearest(NS, "mini", np.ones(32, np.float32), ALL, 9) == {}
