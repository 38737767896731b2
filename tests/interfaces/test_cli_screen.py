"""Widths, broken lines and styles of what is written for a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.interfaces.cli.bars import Bar
from ovillo.interfaces.cli.cells import broken, cells_of, cut
from ovillo.interfaces.cli.screen import Screen, StyledText


def screen(columns: int | None, *, colors: bool = False) -> Screen:
    return Screen(io.StringIO(), True, colors, columns)


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("日本", 4), ("e\u0301", 1), ("🙂", 2), ("", 0)])
def test_wide_letters_take_two_columns_and_marks_none(text: str, columns: int) -> None:
    assert cells_of(text) == columns


@given(st.text(st.characters(exclude_characters="\n\r\t", exclude_categories=["C", "Zl", "Zp"])), st.integers(2, 30))
def test_no_piece_of_a_broken_line_is_too_wide_and_no_word_is_lost(line: str, columns: int) -> None:
    pieces = [line[start:end] for start, end in broken(line, columns)]
    assert all(cells_of(piece) <= columns for piece in pieces)
    assert "".join("".join(pieces).split(" ")) == "".join(line.split(" "))
    assert cells_of(cut(line, columns)) <= columns


def test_words_stay_whole_where_they_fit() -> None:
    assert [*broken("one two three", 8)] == [(0, 7), (8, 13)]
    assert [*broken("    indented_word", 10)] == [(0, 10), (10, 17)]


def test_styles_go_on_behind_a_break_and_never_reach_the_indent() -> None:
    text = StyledText([("bold words", "bold"), (" and plain ones", "")])
    assert screen(10, colors=True).written(text, 4) == (
        "    \x1b[1mbold\x1b[0m\n    \x1b[1mwords\x1b[0m\n    and\n    plain\n    ones\n"
    )
    assert screen(None).written(text) == "bold words and plain ones\n"


def test_what_is_recorded_brings_no_sequence_to_the_screen() -> None:
    assert screen(None).written(StyledText([("a\x1b[31mb\tc\nd", "")])) == "ab      c\nd\n"


def test_a_bar_shows_the_last_state_and_is_gone_at_the_end() -> None:
    shown = screen(60)
    with Bar(shown, "Reading") as bar:
        for done in range(11):
            bar.update(done, 10, note="some words")
    assert isinstance(shown.stream, io.StringIO)
    sent = shown.stream.getvalue()
    assert "10/10" in sent
    assert sent.endswith("\r\x1b[2K")
    assert all(cells_of(line) < 60 for line in sent.split("\r\x1b[2K"))


def test_a_bar_that_was_never_needed_sends_nothing() -> None:
    shown = screen(60)
    with Bar(shown, "Reading"):
        pass
    assert isinstance(shown.stream, io.StringIO)
    assert shown.stream.getvalue() == ""
