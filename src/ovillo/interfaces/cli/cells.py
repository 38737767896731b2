"""How many columns of a terminal a text takes, and cutting and breaking it by that.

Owns widths. Letters of East Asia and pictures take two columns, marks that sit on other letters none.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import lru_cache


def cells_of(text: str) -> int:
    return len(text) if text.isascii() else sum(map(_cells_of, text))


@lru_cache(4_096)
def _cells_of(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitting(text: str, columns: int) -> int:
    """How many of its characters fit into so many columns."""
    if text.isascii():
        return min(len(text), columns)
    for at, character in enumerate(text):
        columns -= _cells_of(character)
        if columns < 0:
            return at
    return len(text)


def cut(text: str, columns: int) -> str:
    if cells_of(text) <= columns:
        return text
    return text[: fitting(text, max(columns - 1, 0))].rstrip() + "…"


def broken(line: str, columns: int) -> Iterator[tuple[int, int]]:
    """Begin and end of the pieces of ``line`` that fit, broken between words where there are any; blanks at a break
    are left out."""
    at = 0
    while cells_of(line[at:]) > columns:
        end = at + max(fitting(line[at:], columns), 1)
        blank = line.rfind(" ", at, end + 1)
        if blank > at and not line[at:blank].isspace():
            yield at, at + len(line[at:blank].rstrip())
            at = blank
            while at < len(line) and line[at] == " ":
                at += 1
        else:
            yield at, end
            at = end
    yield at, len(line)
