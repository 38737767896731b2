"""Which messages are summarised, and when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.model.errors import InvalidInput
from ovillo.model.records import Author, Message, Role
from ovillo.sessions.summary_plan import ByMessages, ByTurns, Rules, is_due, plan, retry_after
from ovillo.sessions.trimming import is_prompt
from tests.builders import message


def _thread(count: int, prompt_every: int = 2) -> list[Message]:
    return [
        message(f"m{at}", at, "x", role=Role.ASSISTANT, author=Author.MODEL)
        if (at - 1) % prompt_every
        else message(f"m{at}", at, "x")
        for at in range(1, count + 1)
    ]


@pytest.mark.requirement("MEMO-2")
def test_fifty_five_messages_and_a_fifty_sixth_leave_none_between() -> None:
    divided = plan(ByMessages(50, 20), _thread(56))
    assert [one.seq for one in divided.older] == list(range(1, 37))
    assert [one.seq for one in divided.kept] == list(range(37, 57))


def test_fifty_messages_are_not_over_the_threshold() -> None:
    assert plan(ByMessages(50, 20), _thread(50)).older == ()
    assert len(plan(ByMessages(50, 20), _thread(51)).older) == 31


@pytest.mark.requirement("MEMO-4")
def test_over_ten_turns_all_but_three_are_summarised() -> None:
    assert plan(ByTurns(10, 3), _thread(20)).older == ()
    divided = plan(ByTurns(10, 3), _thread(22))
    assert [one.seq for one in divided.kept] == list(range(17, 23))


_RULES = st.one_of(
    st.integers(1, 60).flatmap(lambda limit: st.integers(1, limit).map(lambda keep: ByMessages(limit, keep))),
    st.integers(1, 20).flatmap(lambda limit: st.integers(1, limit).map(lambda keep: ByTurns(limit, keep))),
)


@pytest.mark.requirement("MEMO-3")
@given(rules=_RULES, count=st.integers(0, 150), prompt_every=st.integers(1, 7), force=st.booleans())
def test_every_message_is_in_the_summary_or_in_memory_and_none_in_both(
    rules: Rules, count: int, prompt_every: int, force: bool
) -> None:
    thread = _thread(count, prompt_every)
    divided = plan(rules, thread, force=force)
    assert [*divided.older, *divided.kept] == thread
    due = is_due(rules, count, sum(map(is_prompt, thread)))
    assert bool(divided.older) <= (due or force)
    assert not due or divided.kept


@pytest.mark.requirement("MEMO-3")
@given(rules=_RULES, appended=st.lists(st.integers(1, 30), max_size=12))
def test_rolling_on_covers_every_message_once(rules: Rules, appended: list[int]) -> None:
    thread = _thread(sum(appended))
    summarised: list[int] = []
    arrived = 0
    for count in appended:
        arrived += count
        memory = thread[len(summarised) : arrived]
        divided = plan(rules, memory)
        summarised += [one.seq for one in divided.older]
        assert summarised + [one.seq for one in divided.kept] == list(range(1, arrived + 1))


def test_keeping_more_than_the_threshold_is_refused() -> None:
    with pytest.raises(InvalidInput, match="keep_last_messages is 60"):
        ByMessages(50, 60)
    with pytest.raises(InvalidInput, match="keep_last_n_turns is 0"):
        ByTurns(10, 0)


def test_a_failed_summary_is_tried_again_after_a_tenth_of_the_threshold() -> None:
    assert (retry_after(50), retry_after(3)) == (5, 1)
