"""Ids of the demo: the same every time, so that links and screenshots stay true."""

from __future__ import annotations

import hashlib
from uuid import UUID

_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def uuid_of(*names: object) -> str:
    """A version-4-shaped UUID that depends on ``names`` only."""
    digest = bytearray(_digest(*names)[:16])
    digest[6] = digest[6] & 0x0F | 0x40
    digest[8] = digest[8] & 0x3F | 0x80
    return str(UUID(bytes=bytes(digest)))


def hex_of(size: int, *names: object) -> str:
    return _digest(*names).hex()[:size]


def opencode_id(prefix: str, ms: int, counter: int, *names: object, descending: bool = False) -> str:
    """An id as OpenCode makes them: twelve hex digits of time and counter (complemented for sessions), then noise."""
    number = (ms * 0x1000 + counter) & 0xFFFFFFFFFFFF
    if descending:
        number = ~number & 0xFFFFFFFFFFFF
    noise = "".join(_BASE62[b % 62] for b in _digest(prefix, *names)[:14])
    return f"{prefix}_{number:012x}{noise}"


def _digest(*names: object) -> bytes:
    return hashlib.sha256("\0".join(map(str, names)).encode()).digest()
