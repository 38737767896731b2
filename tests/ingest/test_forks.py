"""Which of two sessions with equal messages is the fork."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.ingest.forks import decide
from ovillo.model.records import SessionId

A, B, C = SessionId("a"), SessionId("b"), SessionId("c")
SHARED = [("m1", 1), ("m2", 2)]


@pytest.mark.requirement("INGEST-1")
def test_the_session_that_first_said_something_of_its_own_is_the_original() -> None:
    (fork,) = decide([(A, B)], {A: [*SHARED, ("late", 9)], B: [*SHARED, ("early", 3)]})
    assert (fork.session_id, fork.origin, fork.inherited) == (A, B, ("m1", "m2"))


@pytest.mark.requirement("INGEST-1")
def test_a_session_with_nothing_of_its_own_is_the_original() -> None:
    (fork,) = decide([(A, B)], {A: [*SHARED, ("own", 9)], B: list(SHARED)})
    assert (fork.session_id, fork.origin) == (A, B)


@pytest.mark.requirement("INGEST-1")
def test_a_fork_of_a_fork_hangs_on_the_one_it_shares_most_with() -> None:
    times = {A: [*SHARED, ("a3", 3)], B: [*SHARED, ("b4", 4), ("b5", 5)], C: [*SHARED, ("b4", 4), ("c6", 6)]}
    forks = {fork.session_id: fork for fork in decide([(A, B), (A, C), (B, C)], times)}
    assert (forks[B].origin, forks[C].origin) == (A, B)
    assert forks[C].inherited == ("m1", "m2", "b4")


@pytest.mark.requirement("INGEST-1")
def test_two_forks_of_one_session_are_not_forks_of_each_other() -> None:
    times = {A: [*SHARED, ("a3", 3)], B: [*SHARED, ("b4", 4)], C: [*SHARED, ("c5", 5)]}
    forks = {fork.session_id: fork.origin for fork in decide([(A, B), (A, C), (B, C)], times)}
    assert forks == {B: A, C: A}


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from("pqrstu"), st.none() | st.integers(0, 9)), max_size=6),
        min_size=2,
        max_size=4,
    )
)
def test_deciding_never_makes_a_circle(threads: list[list[tuple[str, int | None]]]) -> None:
    times = {SessionId(str(n)): thread for n, thread in enumerate(threads)}
    names = sorted(times)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    above = {fork.session_id: fork.origin for fork in decide(pairs, times)}
    for start in above:
        seen, at = set(), start
        while at in above:
            assert at not in seen
            seen.add(at)
            at = above[at]
