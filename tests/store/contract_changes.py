"""What every store must do with the change log."""

from __future__ import annotations

import threading

import pytest

from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol import ChangeStore, Store
from tests.builders import NOON, delta, message

A = SessionId("ses_a")


@pytest.fixture
def changes(store: Store) -> ChangeStore:
    return store.changes


@pytest.mark.requirement("STORE-40")
def test_numbers_of_changes_rise_in_each_namespace_whatever_is_deleted(store: Store, changes: ChangeStore) -> None:
    other = Namespace("other")
    assert (changes.last(NS), changes.since(NS, 0, 9)) == (0, [])
    store.ingest.apply(NS, [delta(message("m1", 1, "one"))])
    store.ingest.apply(other, [delta(message("m1", 1, "one"))])
    first = changes.last(NS)
    store.recording.delete(NS, A, at=NOON)
    deleted = changes.last(NS)
    store.ingest.apply(NS, [delta(message("m1", 1, "one"))])
    assert first < deleted < changes.last(NS)
    numbers = [change.seq for change in changes.since(NS, 0, 100)]
    assert numbers == sorted(set(numbers))
    assert [change.kind for change in changes.since(NS, first, 1)] == ["session_deleted"]
    assert [change for change in changes.since(NS, deleted, 100) if change.seq <= deleted] == []
    assert {change.ref for change in changes.since(other, 0, 100)} == {A}


@pytest.mark.requirement("STORE-41")
def test_who_listens_is_called_after_a_commit_until_they_stop(store: Store, changes: ChangeStore) -> None:
    seen = threading.Semaphore(0)
    stop = changes.listen(seen.release)
    store.ingest.apply(NS, [delta(message("m1", 1, "one"))])
    assert seen.acquire(timeout=10)
    stop()
    while seen.acquire(blocking=False):
        pass
    store.ingest.apply(NS, [delta(message("m2", 2, "two"))])
    # What is written later is told later: nothing of both is on its way any more.
    store.ingest.apply(NS, [delta(message("m3", 3, "three"))])
    assert not seen.acquire(blocking=False)
