"""What every store must do with the audit."""

from __future__ import annotations

import pytest

from ovillo.model.audit import AuditEntry
from ovillo.model.records import Namespace
from ovillo.store.protocol import Store
from tests.builders import NOON

TEAM, OTHER = Namespace("team"), Namespace("other")


def entry(session_id: str, at: int = NOON, action: str = "getSession") -> AuditEntry:
    return AuditEntry(at, "Ana", "abc", "rest", action, session_id)


@pytest.mark.requirement("AUDIT-1")
def test_entries_come_back_newest_first_by_namespace_and_session(store: Store) -> None:
    store.add_audit(TEAM, [entry("a"), entry("b")])
    store.add_audit(OTHER, [entry("a")])
    store.add_audit(TEAM, [entry("a", NOON + 1, "deleteSession")])
    assert [(x.entry.session_id, x.entry.action) for x in store.audit(TEAM)] == [
        ("a", "deleteSession"),
        ("b", "getSession"),
        ("a", "getSession"),
    ]
    assert [x.seq for x in store.audit(TEAM, session_id="a")] == [4, 1]
    assert [x.seq for x in store.audit(TEAM, before=4, limit=1)] == [2]
    assert [x.namespace for x in store.audit_chain()] == ["team", "team", "other", "team"]


@pytest.mark.requirement("AUDIT-2")
def test_an_untouched_chain_is_whole_also_without_its_beginning(store: Store) -> None:
    assert store.check_audit().head is None
    store.add_audit(TEAM, [entry("a", NOON), entry("b", NOON + 10), entry("c", NOON + 20)])
    whole = store.check_audit()
    assert (whole.entries, whole.broken_at) == (3, None)
    assert store.drop_audit(NOON + 10) == 1
    assert store.drop_audit(NOON + 10) == 0
    rest = store.check_audit()
    assert (rest.entries, rest.broken_at, rest.head) == (2, None, whole.head)
    assert store.drop_audit(NOON + 1_000) == 2
    store.add_audit(TEAM, [entry("d")])
    assert (store.check_audit().entries, store.check_audit().broken_at) == (1, None)
    assert store.audit(TEAM)[0].seq == 4


@pytest.mark.requirement("AUDIT-2")
def test_a_clock_that_went_back_tears_no_hole(store: Store) -> None:
    store.add_audit(TEAM, [entry("a", NOON + 100), entry("b", NOON), entry("c", NOON + 200)])
    store.drop_audit(NOON + 50)
    assert store.check_audit().broken_at is None
