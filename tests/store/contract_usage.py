"""What every store must do for what models were paid for. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.records import DEFAULT_NAMESPACE, Author, Message, Namespace, Role, SessionId, Usage
from ovillo.model.sessions import SessionFilter
from ovillo.store.protocol import Store
from tests.builders import NOON, delta, message, session

NS = DEFAULT_NAMESPACE
ALL = SessionFilter()


def _answer(name: str, seq: int, of: str = "ses_a", **fields: object) -> Message:
    return message(name, seq, "done", role=Role.ASSISTANT, of=of, author=Author.MODEL, **fields)


@pytest.mark.requirement("USAGE-1")
def test_an_answer_comes_with_its_figures_and_a_prompt_with_none(store: Store) -> None:
    said = _answer(
        "m2",
        2,
        model="opus",
        provider="anthropic",
        usage=Usage(1, 2, 3, 4, 5),
        cost=0.25,
        metadata={"cache_write_1h": 4},
    )
    store.ingest.apply(NS, [delta(message("m1", 1, "go"), said, about=session(source="codex"))])
    (paid,) = store.usage.answers(NS, ALL)
    assert paid == ("ses_a", "m2", "codex", NOON + 2000, "opus", "anthropic", 1, 2, 3, 4, 5, 4, 0.25, False)
    assert (paid.output, paid.cost, paid.cache_write_1h) == (2, 0.25, 4)


@pytest.mark.requirement("USAGE-1")
def test_answers_come_oldest_first_within_the_time_that_is_asked_for(store: Store) -> None:
    store.ingest.apply(NS, [delta(_answer("m3", 3, usage=Usage(3)), _answer("m1", 1, usage=Usage(1)))])
    store.ingest.apply(NS, [delta(_answer("n2", 2, "ses_b", usage=Usage(2)))])
    undated = _answer("n9", 9, "ses_c", usage=Usage(9), created_at=None)
    store.ingest.apply(NS, [delta(undated, about=session("ses_c"))])
    assert [paid.input for paid in store.usage.answers(NS, ALL)] == [9, 1, 2, 3]
    assert [paid.input for paid in store.usage.answers(NS, ALL, after=NOON + 1000, before=NOON + 3000)] == [1, 2]
    assert [paid.input for paid in store.usage.answers(NS, ALL, after=NOON + 2000)] == [2, 3]
    assert [paid.input for paid in store.usage.answers(NS, SessionFilter(session_ids=(SessionId("ses_b"),)))] == [2]
    assert store.usage.answers(Namespace("other"), ALL) == []


@pytest.mark.requirement("USAGE-1")
def test_an_answer_without_a_model_has_its_sessions(store: Store) -> None:
    paid = _answer("m1", 1, cost=0.5)
    store.ingest.apply(NS, [delta(paid, about=session(model="sonnet"))])
    assert [(each.model, each.input, each.cost) for each in store.usage.answers(NS, ALL)] == [("sonnet", 0, 0.5)]


@pytest.mark.requirement("USAGE-1")
def test_what_a_fork_copied_is_its_origins_unless_that_is_not_here(store: Store) -> None:
    copied = _answer("m1", 1, "ses_fork", usage=Usage(7), inherited_from=SessionId("ses_a"))
    fork = session("ses_fork", forked_from=SessionId("ses_a"))
    store.ingest.apply(NS, [delta(copied, about=fork)])
    assert [(paid.session_id, paid.is_copy) for paid in store.usage.answers(NS, ALL)] == [("ses_fork", True)]
    store.ingest.apply(NS, [delta(_answer("m1", 1, usage=Usage(7)))])
    assert [(paid.session_id, paid.is_copy) for paid in store.usage.answers(NS, ALL)] == [("ses_a", False)]
