"""What every store must do for what models were paid for. A store's own test file imports all of this."""

from __future__ import annotations

import pytest

from ovillo.model.live import NATIVE
from ovillo.model.records import DEFAULT_NAMESPACE, Author, Message, Namespace, Role, SessionId, Usage
from ovillo.model.sessions import SessionFilter
from ovillo.model.usage import SessionCost
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
    assert paid == ("ses_a", "m2", "codex", NOON + 2000, "opus", "anthropic", 1, 2, 3, 4, 5, 4, 0.25, None)
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
    assert list(store.usage.answers(Namespace("other"), ALL)) == []


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
    assert [(paid.session_id, paid.copied_from) for paid in store.usage.answers(NS, ALL)] == [("ses_fork", "ses_a")]
    store.ingest.apply(NS, [delta(_answer("m1", 1, usage=Usage(7)))])
    assert [(paid.session_id, paid.copied_from) for paid in store.usage.answers(NS, ALL)] == [("ses_a", None)]


@pytest.mark.requirement("WEB-60")
def test_sessions_are_counted_narrowed_and_ordered_by_the_cost_that_is_kept(store: Store) -> None:
    names = [SessionId(f"ses_{letter}") for letter in "abcd"]
    store.ingest.apply(NS, [delta(_answer("m1", 1, name, usage=Usage(1)), about=session(name)) for name in names])
    a, b, c, d = names
    assert set(store.usage.without_cost(NS, "march")) == set(names)
    store.usage.keep_costs(NS, "march", [SessionCost(a, 0.5), SessionCost(b, None), SessionCost(c, 12.0)])
    store.usage.keep_costs(Namespace("other"), "march", [SessionCost(d, 1.0)])
    assert store.usage.without_cost(NS, "march") == [d]
    assert set(store.usage.without_cost(NS, "april")) == set(names)
    assert store.overview.counts(NS, ALL, "cost") == [("", 2), ("2", 1), ("4", 1)]
    for where, found in (
        (SessionFilter(cost_from=0.5), {a, c}),
        (SessionFilter(cost_from=0.6), {c}),
        (SessionFilter(cost_below=12.0), {a}),
        (SessionFilter(has_cost=True), {a, c}),
        (SessionFilter(has_cost=False), {b, d}),
    ):
        assert {row.session.id for row in store.sessions.find(NS, where, 9)} == found
    ordered = [row.session.id for row in store.sessions.find(NS, ALL, 9, order="cost")]
    assert ordered == [c, a, d, b]
    for at, last in enumerate(ordered):
        rest = store.sessions.find(NS, ALL, 9, (0, last), "cost")
        assert [row.session.id for row in rest] == ordered[at + 1 :]


@pytest.mark.requirement("WEB-60")
def test_a_kept_cost_is_over_when_an_answer_comes_changes_or_goes(store: Store) -> None:
    copied = _answer("m1", 1, "ses_fork", usage=Usage(7), inherited_from=SessionId("ses_a"))
    fork, own = SessionId("ses_fork"), SessionId("ses_b")
    store.ingest.apply(NS, [delta(copied, about=session(fork, forked_from=SessionId("ses_a")))])
    store.ingest.apply(NS, [delta(_answer("n1", 1, own, usage=Usage(1)), about=session(own))])

    def is_over(*session_ids: SessionId) -> bool:
        found = set(store.usage.without_cost(NS, "march"))
        store.usage.keep_costs(NS, "march", [SessionCost(each, 1.0) for each in found])
        return found == set(session_ids)

    assert is_over(fork, own)
    store.ingest.apply(NS, [delta(message("n2", 2, "thanks", of=own), about=session(own))])
    assert is_over()
    store.ingest.apply(NS, [delta(_answer("n3", 3, own, usage=Usage(1)), about=session(own))])
    assert is_over(own)
    store.ingest.apply(NS, [delta(_answer("n3", 3, own, usage=Usage(2)), about=session(own))])
    assert is_over(own)
    # The session that the fork copied from comes: the copy is no cost of the fork's any more.
    store.ingest.apply(NS, [delta(_answer("m1", 1, usage=Usage(7)))])
    assert is_over(SessionId("ses_a"), fork)
    store.forgetting.forget_session(NS, SessionId("ses_a"), at=NOON)
    assert is_over(fork)


@pytest.mark.requirement("WEB-60")
def test_a_kept_cost_is_over_when_an_answer_is_recorded(store: Store) -> None:
    live = SessionId("ses_live")
    store.recording.create(NS, session(live, source=NATIVE))
    store.usage.keep_costs(NS, "march", [SessionCost(live, 1.0)])
    store.recording.append(NS, live, [(message("n1", 0, "hello", of=live), "k1")], at=NOON).result(10)
    assert store.usage.without_cost(NS, "march") == []
    store.recording.append(NS, live, [(_answer("n2", 0, live, usage=Usage(1)), "k2")], at=NOON).result(10)
    assert store.usage.without_cost(NS, "march") == [live]
