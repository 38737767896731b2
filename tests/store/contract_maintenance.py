"""What every store must do to keep itself small."""

from __future__ import annotations

import hashlib

import pytest

from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId
from ovillo.store.protocol import EncodedSnapshot, MaintenanceStore, Store
from tests.builders import NOON, delta, message, session

A, B = SessionId("ses_a"), SessionId("ses_b")


def _state(text: str, base: tuple[int, str] | None = None) -> EncodedSnapshot:
    plain = text.encode()
    on = None if base is None else base[0]
    under = None if base is None else _sum(base[1])
    return EncodedSnapshot(2, len(plain), _sum(text), plain, on, under)


def _sum(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=32).digest()


def _begin(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "one")), delta(message("m2", 1, "two", of="ses_b"))])


@pytest.fixture
def maintenance(store: Store) -> MaintenanceStore:
    return store.maintenance


@pytest.mark.requirement("SNAP-10")
def test_collapsing_the_change_log_hides_no_change_from_any_reader(store: Store, maintenance: MaintenanceStore) -> None:
    _begin(store)
    for n in range(6):
        store.snapshots.add(NS, A if n % 2 else B, _state(f"{{{n}"), at=NOON + n)
    last = store.changes.last(NS)
    seen = [{(x.kind, x.ref) for x in store.changes.since(NS, since, 100)} for since in range(last + 1)]
    assert maintenance.collapse_changes(NS, None, before=NOON) == 0
    assert maintenance.collapse_changes(NS, A, before=NOON + 10) == 2
    assert maintenance.collapse_changes(NS, None, before=NOON + 10) == 2
    assert [{(x.kind, x.ref) for x in store.changes.since(NS, since, 100)} for since in range(last + 1)] == seen
    assert store.changes.last(NS) == last


@pytest.mark.requirement("SNAP-10")
def test_idempotency_keys_go_with_the_quiet_sessions_only(store: Store, maintenance: MaintenanceStore) -> None:
    _begin(store)
    for one, at in (("ses_q", NOON), ("ses_busy", NOON + 100)):
        made = session(one, source="ovillo", created_at=NOON, updated_at=NOON)
        store.recording.create(NS, made)
        store.recording.append(NS, made.id, [(message(f"m-{one}", 1, "hi", of=one), "key")], at=at).result(10)
    assert maintenance.forget_idempotency(NS, SessionId("ses_busy"), before=NOON + 50) == 0
    assert maintenance.forget_idempotency(NS, None, before=NOON + 50) == 1
    again = store.recording.append(
        NS, SessionId("ses_busy"), [(message("other", 1, "hi", of="ses_busy"), "key")], at=NOON + 200
    )
    assert again.result(10)[0].replayed


@pytest.mark.requirement("SNAP-11")
def test_bytes_go_back_to_the_disk_and_everything_is_still_there(store: Store, maintenance: MaintenanceStore) -> None:
    _begin(store)
    noise = "".join(hashlib.sha256(str(n).encode()).hexdigest() for n in range(4_000))
    for n in range(4):
        store.snapshots.add(NS, A, _state(f"{{{n}{noise}"), at=NOON)
    store.snapshots.add(NS, B, _state("{kept"), at=NOON)
    for step in maintenance.maintain("light"):
        step.run()
    before = maintenance.size()
    store.recording.delete(NS, A, at=NOON)
    freed = maintenance.size()
    assert before.used - freed.used > 900_000
    for step in maintenance.maintain("aggressive"):
        assert step.run()
    after = maintenance.size()
    assert before.disk - after.disk > 900_000
    assert after.free == 0
    assert [data for _, data in store.snapshots.chain(NS, B)] == [b"{kept"]
    assert store.health.quick_check() == []
