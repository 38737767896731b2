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
    store.audit.add(TEAM, [entry("a"), entry("b")])
    store.audit.add(OTHER, [entry("a")])
    store.audit.add(TEAM, [entry("a", NOON + 1, "deleteSession")])
    assert [(x.entry.session_id, x.entry.action) for x in store.audit.entries(TEAM)] == [
        ("a", "deleteSession"),
        ("b", "getSession"),
        ("a", "getSession"),
    ]
    assert [x.seq for x in store.audit.entries(TEAM, session_id="a")] == [4, 1]
    assert [x.seq for x in store.audit.entries(TEAM, before=4, limit=1)] == [2]
    assert [x.namespace for x in store.audit.chain()] == ["team", "team", "other", "team"]


@pytest.mark.requirement("AUDIT-2")
def test_an_untouched_chain_is_whole_also_without_its_beginning(store: Store) -> None:
    assert store.audit.check().head is None
    store.audit.add(TEAM, [entry("a", NOON), entry("b", NOON + 10), entry("c", NOON + 20)])
    whole = store.audit.check()
    assert (whole.entries, whole.broken_at) == (3, None)
    assert store.audit.drop(NOON + 10) == 1
    assert store.audit.drop(NOON + 10) == 0
    rest = store.audit.check()
    assert (rest.entries, rest.broken_at, rest.head) == (2, None, whole.head)
    assert store.audit.drop(NOON + 1_000) == 2
    store.audit.add(TEAM, [entry("d")])
    assert (store.audit.check().entries, store.audit.check().broken_at) == (1, None)
    assert store.audit.entries(TEAM)[0].seq == 4


@pytest.mark.requirement("AUDIT-2")
def test_a_clock_that_went_back_tears_no_hole(store: Store) -> None:
    store.audit.add(TEAM, [entry("a", NOON + 100), entry("b", NOON), entry("c", NOON + 200)])
    store.audit.drop(NOON + 50)
    assert store.audit.check().broken_at is None
