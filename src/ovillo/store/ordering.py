"""Order of a session's messages when they come from several files (ADR 0002), the same in all engines.

Within a file the order is the file's; between files it is the time's, and a message without a time, or with one before
its predecessor's, stays behind the one it stood behind. What comes out depends on what is known only, not on when it was
read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Name = TypeVar("Name")


def renumbered(messages: Iterable[tuple[Name, int, int, int | None]]) -> Iterator[tuple[Name, int, int]]:
    """``(message, its number, its number from now on)`` of those that do not stand where their numbers say.

    Given are ``(message, its number, number of its file, when)``, file by file and in the order of each file."""
    placed: list[tuple[int, int, Name, int]] = []
    times: dict[int, int] = {}
    for name, seq, file, at in messages:
        # What has no time stands with what is before it; at the beginning of a file, before everything.
        times[file] = max(times.get(file, 0), at or 0)
        placed.append((times[file], file, name, seq))
    # Stable: within a file times never fall, so that its order stays.
    placed.sort(key=lambda row: row[:2])
    last = -(1 << 62)
    for _, _, name, seq in placed:
        last = max(seq, last + 1)
        if last != seq:
            yield name, seq, last
