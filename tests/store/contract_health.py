"""What every store must tell of its own condition. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.coordination import Link
from ovillo.model.errors import StoreUnavailable
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, SessionId
from ovillo.store.protocol import HealthStore, Store
from tests.builders import delta, message

NS = DEFAULT_NAMESPACE


@pytest.fixture
def health(store: Store) -> HealthStore:
    return store.health


@pytest.mark.requirement("CTX-6")
def test_a_sound_store_tells_what_it_holds_and_answers_its_writer(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "hi", of="ses_a")), delta(message("m2", 1, "hi", of="ses_b"))])
    store.links.put(NS, Link(SessionId("ses_a"), SessionId("ses_b"), "impacts"))
    health = store.health.report(NS)
    assert health.problems == ()
    assert health.schema_version >= 1
    assert health.size_bytes > 0
    assert {key: health.counts[key] for key in ("sessions", "messages", "links", "tasks")} == {
        "sessions": 2,
        "messages": 2,
        "links": 1,
        "tasks": 0,
    }
    assert store.health.report(Namespace("other")).counts["sessions"] == 0
    assert store.health.probe_writer(10)


@pytest.mark.requirement("CTX-6")
def test_a_closed_store_says_that_it_is_closed(store: Store) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "hi"))])
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.sessions.get(NS, SessionId("ses_a"))
    with pytest.raises(StoreUnavailable, match="closed"):
        store.ingest.apply(NS, [delta(message("m1", 1, "hi"))])
    store.close()
