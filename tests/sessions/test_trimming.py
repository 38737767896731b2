"""Turns, and the last of them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.model.errors import InvalidInput
from ovillo.model.records import Author, Message, Role
from ovillo.sessions.trimming import is_prompt, last_turns, turns
from tests.builders import message


def _thread(shape: str) -> list[Message]:
    """``p`` a prompt, ``a`` an answer, ``s`` text the client put in under the user's role."""
    kinds = {"p": (Role.USER, Author.HUMAN), "a": (Role.ASSISTANT, Author.MODEL), "s": (Role.USER, Author.SYNTHETIC)}
    return [
        message(f"m{at}", at, "x", role=kinds[kind][0], author=kinds[kind][1]) for at, kind in enumerate(shape, start=1)
    ]


@pytest.mark.requirement("MEMO-1")
def test_the_last_three_of_six_turns_are_kept_whole() -> None:
    kept = last_turns(_thread("papapaaapapa"), 3)
    assert [one.seq for one in kept] == [5, 6, 7, 8, 9, 10, 11, 12]


@pytest.mark.requirement("MEMO-1")
def test_text_of_the_client_begins_no_turn() -> None:
    assert [len(turn) for turn in turns(_thread("pasapa"))] == [4, 2]


def test_what_stands_before_the_first_prompt_is_a_turn() -> None:
    assert [len(turn) for turn in turns(_thread("sapa"))] == [2, 2]
    assert turns([]) == []


def test_no_turns_at_all_is_refused() -> None:
    with pytest.raises(InvalidInput, match="max_turns is 0"):
        last_turns(_thread("pa"), 0)


@pytest.mark.requirement("MEMO-1")
@given(shape=st.text("pas", max_size=60), wanted=st.integers(1, 12))
def test_trimming_gives_a_tail_that_begins_with_a_prompt(shape: str, wanted: int) -> None:
    thread = _thread(shape)
    kept = last_turns(thread, wanted)
    assert list(kept) == thread[len(thread) - len(kept) :]
    assert kept == tuple(thread) or is_prompt(kept[0])
    assert len(turns(kept)) == min(wanted, len(turns(thread)))
