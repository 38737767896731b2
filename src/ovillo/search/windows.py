"""Long texts a window at a time, so that a search can keep its deadline inside one.

Owns the size of windows and running out of time. A match is found whole where it fits into the overlap of two windows;
of a longer one that crosses a border, nothing or a part is found.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from ovillo.model.dataclass import dataclass


class OutOfTime(Exception):
    """The deadline came inside a text. Never leaves ``search``."""


@dataclass(frozen=True, slots=True)
class Windows:
    """Sizes in bytes of UTF-8, or in characters where texts are searched as they are."""

    #: The first window; the next ones are larger while that takes no time worth mentioning. A slow expression reads some
    #: tens of kilobytes a second.
    size: int = 8 * 1024
    largest: int = 256 * 1024
    overlap: int = 8 * 1024
    #: A match that reaches the end of its window is looked at once more with so much text.
    longest: int = 64 * 1024


USUAL = Windows()
#: A window that took less is followed by one of twice the size (seconds).
_QUICK_S = 0.005
#: How much is read to see how fast an expression is: a large one takes a second for a window (bytes).
_PROBE = 1024


def check(deadline: float | None) -> None:
    """Raises OutOfTime."""
    if deadline is not None and time.monotonic() > deadline:
        raise OutOfTime


def spans(compiled: Any, text: str, deadline: float | None, windows: Windows = USUAL) -> Iterator[tuple[int, int]]:
    """Matches of an RE2 expression in ``text``, in characters, in order. What stands before and behind a window is seen by
    ``^``, ``$`` and word borders. Raises OutOfTime, also when the next window would take longer than there is."""
    data = text.encode("utf-8", "replace")
    place = _Characters(data, len(data) == len(text))
    at, size = 0, windows.size
    check(deadline)
    reading = _Reading(compiled, data, deadline)
    while True:
        began = time.monotonic()
        end = _border(data, at + size + windows.overlap)
        is_last = end == len(data)
        if not reading.has_time_for(end - at):
            raise OutOfTime
        found = reading.search(at, end)
        if found is None or (not is_last and found.start() >= at + size):
            if is_last:
                return
            at = _border(data, at + size)
            size = min(size * 2, windows.largest) if time.monotonic() - began < _QUICK_S else windows.size
            continue
        start, last = found.span()
        if last == end and not is_last and reading.has_time_for(windows.longest):
            found = reading.search(start, _border(data, start + windows.longest))
            start, last = found.span() if found else (start, last)
        yield place.of(start), place.of(last)
        if last > start:
            at = last
        elif last < len(data):
            at = _border(data, last + 1)
        else:
            return


class _Reading:
    """An expression over a text, and how fast it is; measured in processor time, for a busy machine makes none slower."""

    def __init__(self, compiled: Any, data: bytes, deadline: float | None) -> None:
        self._compiled = compiled
        self._data = data
        self._deadline = deadline
        #: Seconds a byte.
        self._pace = 0.0
        if deadline is not None and len(data) > _PROBE:
            self.search(0, _PROBE)
            # What counts to a thousand is at its slowest only behind so many bytes.
            self._pace *= 2

    def has_time_for(self, size: int) -> bool:
        return self._deadline is None or time.monotonic() + size * self._pace <= self._deadline

    def search(self, start: int, end: int) -> Any:
        began = time.thread_time()
        found = self._compiled.search(self._data, start, end)
        read = (found.end() if found else end) - start
        if read >= _PROBE:
            self._pace = (time.thread_time() - began) / read
        return found


def _border(data: bytes, at: int) -> int:
    """``at``, or the next place behind it where a character begins; the end at most."""
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return min(at, len(data))


class _Characters:
    """From places in bytes to places in characters; asked in order."""

    def __init__(self, data: bytes, same: bool) -> None:
        self._data = data
        self._same = same
        self._bytes = 0
        self._characters = 0

    def of(self, at: int) -> int:
        if self._same:
            return at
        if at < self._bytes:
            self._bytes = self._characters = 0
        self._characters += len(self._data[self._bytes : at].decode("utf-8", "replace"))
        self._bytes = at
        return self._characters
