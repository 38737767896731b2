"""What every store must do for contexts. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.coordination import ContextEntry, ContextSwitch
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.store.protocol import ContextStore, Store

NS = DEFAULT_NAMESPACE


@pytest.fixture
def contexts(store: Store) -> ContextStore:
    return store.contexts


@pytest.mark.requirement("CTX-1")
def test_an_entry_comes_back_as_it_was_put_and_is_replaced_under_its_key(contexts: ContextStore) -> None:
    entry = ContextEntry("work", "plan", {"steps": [1, {"ñ": None}], "π": 3.5}, 10, 99_000, "me")
    contexts.put(NS, entry)
    assert contexts.get(NS, "work", "plan") == entry
    assert contexts.entries(NS, "work", at=20) == [entry]
    newer = ContextEntry("work", "plan", {}, 30)
    contexts.put(NS, newer)
    assert contexts.entries(NS, "work", at=40) == [newer]
    assert contexts.counts(NS, at=40) == {"work": 1}
    assert contexts.remove(NS, "work", "plan", at=50)
    assert not contexts.remove(NS, "work", "plan", at=60)


@pytest.mark.requirement("CTX-2")
def test_what_has_expired_is_not_listed_and_is_pruned(contexts: ContextStore) -> None:
    contexts.put(NS, ContextEntry("work", "short", {}, 10, 20))
    contexts.put(NS, ContextEntry("work", "long", {}, 10))
    assert [x.key for x in contexts.entries(NS, "work", at=19)] == ["long", "short"]
    assert [x.key for x in contexts.entries(NS, "work", at=20)] == ["long"]
    assert contexts.counts(NS, at=20) == {"work": 1}
    assert contexts.prune(NS, at=19) == 0
    assert contexts.prune(NS, at=20) == 1
    assert contexts.get(NS, "work", "short") is None


@pytest.mark.requirement("CTX-4")
def test_a_switch_without_preserving_drops_what_the_caller_kept_there(contexts: ContextStore) -> None:
    for key, summary_worker in (("mine", "me"), ("hers", "she"), ("placed", None)):
        contexts.put(NS, ContextEntry("default", key, {}, 1, None, summary_worker))
    done = contexts.switch(NS, "me", "work", default="default", preserve=False, at=2)
    assert done == ContextSwitch("default", "work", False, 0, 1)
    assert [x.key for x in contexts.entries(NS, "default", at=3)] == ["hers", "placed"]
    back = contexts.switch(NS, "me", "default", default="default", preserve=True, at=4)
    assert back == ContextSwitch("work", "default", True, 2, 0)
    assert (contexts.current(NS, "me"), contexts.current(NS, "she")) == ("default", None)


@pytest.mark.requirement("LINKS-10")
def test_contexts_are_logged_and_stay_in_their_namespace(store: Store, contexts: ContextStore) -> None:
    contexts.put(NS, ContextEntry("default", "k", {}, 1))
    contexts.switch(NS, "me", "work", default="default", preserve=True, at=2)
    contexts.remove(NS, "default", "k", at=3)
    logged = [(x.kind, x.ref, x.at) for x in store.changes.since(NS, 0, 9)]
    assert logged == [("context", "default/k", 1), ("context", "work", 2), ("context", "default/k", 3)]
    other = Namespace("other")
    assert (contexts.counts(other, at=0), contexts.current(other, "me")) == ({}, None)
