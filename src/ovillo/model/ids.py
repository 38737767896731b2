"""Ids of our own: a prefix and a UUIDv7, so that they sort by the time they were made.

Owns making and recognising them. Ids of a source are kept as they are and never pass through here.
"""

from __future__ import annotations

import os
import threading
from uuid import UUID

from ovillo.model.clock import Clock, system_clock


class _Sequence:
    """The last moment and counter handed out by this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ms = 0
        self._counter = 0

    def next(self, now: int) -> tuple[int, int]:
        with self._lock:
            if now > self._ms:
                self._ms, self._counter = now, int.from_bytes(os.urandom(1))
            elif self._counter == 0xFFF:
                self._ms, self._counter = self._ms + 1, 0
            else:
                self._counter += 1
            return self._ms, self._counter


_sequence = _Sequence()


def uuid7(clock: Clock = system_clock) -> UUID:
    """RFC 9562 version 7 with a 12-bit counter, so that ids of one process never go backwards."""
    ms, counter = _sequence.next(clock())
    tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return UUID(int=(ms & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail)


def new_id(prefix: str, clock: Clock = system_clock) -> str:
    """``ses_`` + 32 hex digits, and the like."""
    return f"{prefix}_{uuid7(clock).hex}"
