"""What every store must do with what programs keep beside sessions. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.errors import NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol import ProgramStateStore, Shelf, Store
from tests.builders import NOON, delta, message

A, B = SessionId("ses_a"), SessionId("ses_b")


@pytest.fixture
def kept(store: Store) -> ProgramStateStore:
    store.ingest.apply(NS, [delta(message("m1", 1, "one")), delta(message("m2", 1, "two", of="ses_b"))])
    return store.program_state


@pytest.mark.requirement("STATE-1")
def test_values_come_back_by_name_in_the_order_in_which_their_names_came(kept: ProgramStateStore) -> None:
    long = {"text": "año 🐘 " * 500, "none": None, "deep": [[{"n": 1.5}]]}
    assert kept.put(NS, A, "graph", {"c/2": long, "c/1": 1}, at=NOON) == {"c/1", "c/2"}
    assert kept.put(NS, A, "graph", {"c/2": "new", "w/1": []}, at=NOON) == {"c/2", "w/1"}
    assert kept.put(NS, A, "graph", {"c/2": "again", "c/0": 0}, at=NOON, replace=False) == {"c/0"}
    assert list(kept.get(NS, A, "graph").items()) == [("c/2", "new"), ("c/1", 1), ("w/1", []), ("c/0", 0)]
    assert kept.names(NS, A, "graph", "c/") == ["c/2", "c/1", "c/0"]
    assert kept.get(NS, A, "graph", ["w/1", "c/9"]) == {"w/1": []}
    kept.put(NS, B, "graph", {"c/1": long}, at=NOON)
    assert kept.get(NS, B, "graph") == {"c/1": long}


@pytest.mark.requirement("STATE-1")
def test_shelves_are_listed_by_the_beginning_of_their_names_with_times_that_never_go_back(
    kept: ProgramStateStore,
) -> None:
    kept.put(NS, A, "graph/one", {"x": 1}, at=NOON)
    kept.put(NS, B, "graph/two", {"x": 1}, at=NOON + 5)
    kept.put(NS, B, "%raph", {"x": 1}, at=NOON)
    assert kept.shelves(NS, "graph/") == [Shelf(A, "graph/one", NOON), Shelf(B, "graph/two", NOON + 5)]
    kept.put(NS, A, "graph/one", {"x": 2}, at=NOON - 10)
    assert kept.shelves(NS, "graph/one") == [Shelf(A, "graph/one", NOON + 1)]
    assert kept.remove(NS, A, "graph/one", ["x", "y"], at=NOON) == 1
    assert kept.shelves(NS, "graph/") == [Shelf(B, "graph/two", NOON + 5)]
    assert kept.remove(NS, B, "graph/two", at=NOON) == 1
    assert kept.remove(NS, B, "graph/two", at=NOON) == 0
    assert [each.name for each in kept.shelves(NS, "")] == ["%raph"]


@pytest.mark.requirement("STATE-2")
def test_state_belongs_to_its_session_and_namespace_and_goes_with_it(store: Store, kept: ProgramStateStore) -> None:
    kept.put(NS, A, "graph", {"x": 1}, at=NOON)
    elsewhere = Namespace("elsewhere")
    assert kept.get(elsewhere, A, "graph") == {}
    assert kept.shelves(elsewhere, "") == []
    assert kept.remove(elsewhere, A, "graph", at=NOON) == 0
    for unknown in ((elsewhere, A), (NS, SessionId("ses_none"))):
        with pytest.raises(NotFound):
            kept.put(*unknown, "graph", {"x": 1}, at=NOON)
    store.recording.delete(NS, A, at=NOON)
    assert kept.shelves(NS, "") == []
    store.ingest.apply(NS, [delta(message("m1", 1, "one"))])
    assert kept.get(NS, A, "graph") == {}
