"""What every store must do with versions of a session's state."""

from __future__ import annotations

import hashlib
import threading

import pytest

from ovillo.model.errors import Conflict, NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId
from ovillo.store.protocol import EncodedSnapshot, SnapshotStore, Store
from ovillo.store.protocol.snapshots import MAX_DELTAS
from tests.builders import NOON, delta, message, session

A, B = SessionId("ses_a"), SessionId("ses_b")


@pytest.fixture
def snapshots(store: Store) -> SnapshotStore:
    return store.snapshots


def _state(text: str, base: tuple[int, str] | None = None) -> EncodedSnapshot:
    plain = text.encode()
    on = None if base is None else base[0]
    under = None if base is None else _sum(base[1])
    return EncodedSnapshot(2, len(plain), _sum(text), plain, on, under)


def _sum(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def _begin(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "one")), delta(message("m2", 1, "two", of="ses_b"))])


@pytest.mark.requirement("SNAP-1")
def test_versions_count_up_from_one_in_each_session_and_namespace(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    made = [snapshots.add(NS, A, _state(f"{{{n}"), at=NOON + n).version for n in range(3)]
    assert made == [1, 2, 3]
    assert snapshots.add(NS, B, _state("{"), at=NOON).version == 1
    assert [x.version for x in snapshots.versions(NS, A, limit=10)] == [3, 2, 1]
    assert [x.version for x in snapshots.versions(NS, A, before=3, limit=1)] == [2]
    assert snapshots.count(NS, A) == 3
    assert set(snapshots.sessions(NS)) == {A, B}
    elsewhere = Namespace("elsewhere")
    assert snapshots.versions(elsewhere, A, limit=10) == []
    assert snapshots.chain(elsewhere, A) == []
    with pytest.raises(NotFound):
        snapshots.add(elsewhere, A, _state("{"), at=NOON)


@pytest.mark.requirement("SNAP-1")
def test_versions_stay_distinct_when_threads_save_at_once(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    made: list[int] = []

    def save(n: int) -> None:
        made.extend(snapshots.add(NS, A, _state(f"{{{n}.{k}"), at=NOON).version for k in range(10))

    threads = [threading.Thread(target=save, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(1, 41))


@pytest.mark.requirement("SNAP-3")
def test_a_chain_comes_keyframe_first_and_is_never_longer_than_allowed(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    snapshots.add(NS, A, _state("{0"), at=NOON)
    for n in range(MAX_DELTAS):
        snapshots.add(NS, A, _state(f"{{{n + 1}", (n + 1, f"{{{n}")), at=NOON)
    chain = snapshots.chain(NS, A)
    assert [row.version for row, _ in chain] == list(range(1, MAX_DELTAS + 2))
    assert [row.base for row, _ in chain] == [None, *range(1, MAX_DELTAS + 1)]
    assert [data for _, data in snapshots.chain(NS, A, 2)] == [b"{0", b"{1"]
    with pytest.raises(Conflict):
        snapshots.add(NS, A, _state("{x", (MAX_DELTAS + 1, f"{{{MAX_DELTAS}")), at=NOON)


@pytest.mark.requirement("SNAP-3")
def test_a_delta_on_another_state_than_its_own_is_refused(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    snapshots.add(NS, A, _state("{0"), at=NOON)
    for base in ((1, "{something else"), (7, "{0")):
        with pytest.raises(Conflict):
            snapshots.add(NS, A, _state("{1", base), at=NOON)
    assert snapshots.count(NS, A) == 1


@pytest.mark.requirement("SNAP-9")
def test_rewriting_replaces_the_bytes_of_the_same_states_only(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    for n in range(3):
        snapshots.add(NS, A, _state(f"{{{n}"), at=NOON)
    smaller = EncodedSnapshot(3, 2, _sum("{1"), b"z", 1, _sum("{0"))
    assert snapshots.rewrite(NS, A, {2: smaller})
    assert [data for _, data in snapshots.chain(NS, A, 2)] == [b"{0", b"z"]
    for wrong in ({2: _state("{2")}, {9: _state("{9")}, {3: smaller}, {3: _state("{2", (2, "{0"))}):
        assert not snapshots.rewrite(NS, A, wrong)
    assert [data for _, data in snapshots.chain(NS, A, 3)] == [b"{2"]


@pytest.mark.requirement("SNAP-7")
def test_a_deleted_session_takes_its_versions_with_it_and_no_others(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    for one in (A, B):
        snapshots.add(NS, one, _state("{0"), at=NOON)
    store.recording.delete(NS, A, at=NOON)
    assert snapshots.versions(NS, A, limit=5) == []
    assert len(snapshots.versions(NS, B, limit=5)) == 1
    store.recording.create(NS, session("ses_a", source="ovillo"))
    assert snapshots.add(NS, A, _state("{0"), at=NOON).version == 1


@pytest.mark.requirement("SNAP-8")
def test_a_saved_version_is_told_in_the_change_log(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    before = store.changes.last(NS)
    snapshots.add(NS, A, _state("{0"), at=NOON + 5)
    assert [(x.kind, x.ref, x.at) for x in store.changes.since(NS, before, 5)] == [("snapshot", "ses_a", NOON + 5)]


@pytest.mark.requirement("SEC-46")
def test_another_state_takes_the_place_of_one_that_nothing_rests_on(store: Store, snapshots: SnapshotStore) -> None:
    _begin(store)
    snapshots.add(NS, A, _state("one"), at=NOON)
    snapshots.add(NS, A, _state("two", (1, "one")), at=NOON)
    assert [x.version for x in snapshots.resting_on(NS, A, 1)] == [2]
    assert not snapshots.replace(NS, A, 1, _sum("one"), _state("other"))
    assert snapshots.rewrite(NS, A, {2: _state("two")})
    assert not snapshots.replace(NS, A, 1, _sum("another"), _state("other"))
    assert snapshots.replace(NS, A, 1, _sum("one"), _state("other"))
    ((facts, data),) = snapshots.chain(NS, A, 1)
    assert (facts.version, facts.checksum, data) == (1, _sum("other"), b"other")
