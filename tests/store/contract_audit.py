"""What every store must do with the audit."""

from __future__ import annotations

import pytest

from ovillo.model.audit import AuditEntry
from ovillo.model.records import Namespace
from ovillo.store.protocol import AuditStore, Store
from tests.builders import NOON

TEAM, OTHER = Namespace("team"), Namespace("other")


@pytest.fixture
def audit(store: Store) -> AuditStore:
    return store.audit


def entry(session_id: str, at: int = NOON, action: str = "getSession") -> AuditEntry:
    return AuditEntry(at, "Ana", "abc", "rest", action, session_id)


@pytest.mark.requirement("AUDIT-1")
def test_entries_come_back_newest_first_by_namespace_and_session(audit: AuditStore) -> None:
    audit.add(TEAM, [entry("a"), entry("b")])
    audit.add(OTHER, [entry("a")])
    audit.add(TEAM, [entry("a", NOON + 1, "deleteSession")])
    assert [(x.entry.session_id, x.entry.action) for x in audit.entries(TEAM)] == [
        ("a", "deleteSession"),
        ("b", "getSession"),
        ("a", "getSession"),
    ]
    assert [x.seq for x in audit.entries(TEAM, session_id="a")] == [4, 1]
    assert [x.seq for x in audit.entries(TEAM, before=4, limit=1)] == [2]
    assert [x.namespace for x in audit.chain()] == ["team", "team", "other", "team"]


@pytest.mark.requirement("AUDIT-2")
def test_an_untouched_chain_is_whole_also_without_its_beginning(audit: AuditStore) -> None:
    assert audit.check().head is None
    audit.add(TEAM, [entry("a", NOON), entry("b", NOON + 10), entry("c", NOON + 20)])
    whole = audit.check()
    assert (whole.entries, whole.broken_at) == (3, None)
    assert audit.drop(NOON + 10) == 1
    assert audit.drop(NOON + 10) == 0
    rest = audit.check()
    assert (rest.entries, rest.broken_at, rest.head) == (2, None, whole.head)
    assert audit.drop(NOON + 1_000) == 2
    audit.add(TEAM, [entry("d")])
    assert (audit.check().entries, audit.check().broken_at) == (1, None)
    assert audit.entries(TEAM)[0].seq == 4


@pytest.mark.requirement("AUDIT-2")
def test_a_clock_that_went_back_tears_no_hole(audit: AuditStore) -> None:
    audit.add(TEAM, [entry("a", NOON + 100), entry("b", NOON), entry("c", NOON + 200)])
    audit.drop(NOON + 50)
    assert audit.check().broken_at is None
