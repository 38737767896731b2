"""Ids of our own: a prefix and a UUIDv7, so that they sort by the time they were made.

Owns making and recognising them. Ids of a source are kept as they are and never pass through here.
"""

from __future__ import annotations

import os
import threading
from uuid import UUID

from ovillo.model.clock import Clock, system_clock

_lock = threading.Lock()
_last_ms = 0
_counter = 0


def uuid7(clock: Clock = system_clock) -> UUID:
    """RFC 9562 version 7 with a 12-bit counter, so that ids of one process never go backwards."""
    global _last_ms, _counter
    with _lock:
        ms = max(clock(), _last_ms)
        if ms == _last_ms:
            _counter += 1
            if _counter > 0xFFF:
                ms += 1
                _counter = 0
        else:
            _counter = int.from_bytes(os.urandom(1))
        _last_ms = ms
        counter = _counter
    tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return UUID(int=(ms & ((1 << 48) - 1)) << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail)


def new_id(prefix: str, clock: Clock = system_clock) -> str:
    """``ses_`` + 32 hex digits, and the like."""
    return f"{prefix}_{uuid7(clock).hex}"
