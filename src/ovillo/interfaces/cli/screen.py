"""Text with styles, and how it is written for a terminal of some width or for a pipe.

Owns styles, breaking lines and the last look at what is about to be shown: every piece of text is made fit for a terminal
here, whatever it is made of. The streams are ``output``'s.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TextIO

from ovillo.interfaces.cli.cells import broken
from ovillo.model.quoting import printable

_CODES = {
    "bold": "1",
    "dim": "2",
    "italic": "3",
    "red": "31",
    "green": "32",
    "yellow": "33",
    "blue": "34",
    "magenta": "35",
    "cyan": "36",
}
_TAB = 8
_USUAL_COLUMNS = 80

#: A text, and the names of its styles with blanks between.
Piece = tuple[str, str]


@dataclass(slots=True)
class StyledText:
    """Of any number of lines."""

    pieces: list[Piece] = field(default_factory=list)

    def append(self, text: str, style: str = "") -> None:
        self.pieces.append((text, style))


@dataclass(frozen=True, slots=True)
class Screen:
    stream: TextIO
    is_terminal: bool
    has_colors: bool
    #: ``None`` breaks no line.
    columns: int | None

    def written(self, text: StyledText, indent: int = 0) -> str:
        """With a line end behind it; no line has blanks at its end."""
        room = None if self.columns is None else max(self.columns - indent, 1)
        lines = (shown for line in _lines(text.pieces) for shown in self._broken(line, room))
        return "".join(f"{' ' * indent}{line}".rstrip() + "\n" for line in lines)

    def _broken(self, line: list[Piece], room: int | None) -> Iterator[str]:
        if room is None:
            yield self._styled(line)
            return
        plain = "".join(text for text, _ in line)
        for start, end in broken(plain, room):
            yield self._styled(_between(line, start, end))

    def _styled(self, line: Iterable[Piece]) -> str:
        return "".join(styled(text, style) if self.has_colors else text for text, style in line)


def styled(text: str, style: str) -> str:
    codes = ";".join(_CODES[name] for name in style.split())
    return f"\x1b[{codes}m{text}\x1b[0m" if codes and text else text


def columns_of(stream: TextIO) -> int:
    """Of the terminal behind ``stream``; COLUMNS says otherwise."""
    given = os.environ.get("COLUMNS", "")
    if given.isdigit() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_COLUMNS
    except (OSError, ValueError):
        return _USUAL_COLUMNS


def _lines(pieces: Iterable[Piece]) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    for text, style in pieces:
        first, *others = printable(text).split("\n")
        line.append((first, style))
        for other in others:
            yield _without_tabs(line)
            line = [(other, style)]
    yield _without_tabs(line)


def _without_tabs(line: list[Piece]) -> list[Piece]:
    if not any("\t" in text for text, _ in line):
        return line
    at = 0
    spread: list[Piece] = []
    for text, style in line:
        shown = (" " * (at % _TAB) + text).expandtabs(_TAB)[at % _TAB :]
        spread.append((shown, style))
        at += len(shown)
    return spread


def _between(line: Iterable[Piece], start: int, end: int) -> list[Piece]:
    at = 0
    found: list[Piece] = []
    for text, style in line:
        piece = text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            found.append((piece, style))
        at += len(text)
    return found
