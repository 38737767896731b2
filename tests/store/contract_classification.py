"""What every store must do with type and status of sessions that clients do not tell."""

from __future__ import annotations

import pytest

from ovillo.model.live import NATIVE
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId, SessionStatus, SessionType
from ovillo.store.protocol import ClassificationStore, Store
from tests.builders import NOON, delta, message, session

A, B = SessionId("ses_a"), SessionId("ses_b")


@pytest.fixture
def classification(store: Store) -> ClassificationStore:
    return store.classification


def test_mirrored_sessions_wait_newest_first_until_they_are_classified_or_change(
    store: Store, classification: ClassificationStore
) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "one"), about=session(updated_at=NOON))])
    store.ingest.apply(NS, [delta(message("m2", 1, "two", of="ses_b"), about=session("ses_b", updated_at=NOON + 5))])
    store.recording.create(NS, session("ses_own", source=NATIVE))
    assert classification.unclassified(NS, 0, 9) == [B, A]
    assert classification.unclassified(NS, 0, 1) == [B]
    assert classification.unclassified(Namespace("other"), 0, 9) == []
    done = [(each, SessionType.BUGFIX, SessionStatus.COMPLETED) for each in (A, B)]
    classification.classify(NS, done, at=NOON + 10)
    assert classification.unclassified(NS, 0, 9) == []
    row = store.sessions.get(NS, A)
    assert row is not None
    assert (row.session.type, row.session.status) == (SessionType.BUGFIX, SessionStatus.COMPLETED)
    store.ingest.apply(NS, [delta(message("m3", 2, "three"), about=session(updated_at=NOON + 100))])
    assert classification.unclassified(NS, 0, 9) == [A]


def test_who_was_active_is_looked_at_again_when_nothing_came_for_long(
    store: Store, classification: ClassificationStore
) -> None:
    store.ingest.apply(NS, [delta(message("m1", 1, "one"), about=session(updated_at=NOON))])
    classification.classify(NS, [(A, SessionType.GENERAL, SessionStatus.ACTIVE)], at=NOON + 10)
    assert classification.unclassified(NS, NOON, 9) == []
    assert classification.unclassified(NS, NOON + 1_000, 9) == [A]


def test_what_the_client_itself_said_stays(store: Store, classification: ClassificationStore) -> None:
    archived = session(status=SessionStatus.ARCHIVED)
    store.ingest.apply(NS, [delta(message("m1", 1, "one"), about=archived)])
    classification.classify(NS, [(A, SessionType.GENERAL, SessionStatus.COMPLETED)], at=NOON)
    row = store.sessions.get(NS, A)
    assert row is not None
    assert row.session.status is SessionStatus.ARCHIVED
