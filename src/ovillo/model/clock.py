"""Time: one clock type, and the two conversions between milliseconds and ISO 8601.

Owns no policy about display; interfaces choose the form.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

#: Milliseconds since 1970 UTC; injected wherever "now" matters, so that tests can hold it.
Clock = Callable[[], int]

#: Years a coding agent's record can come from; others are damage (seconds or microseconds taken for ms).
_EARLIEST_MS = 1_262_304_000_000  # 2010-01-01


def system_clock() -> int:
    return time.time_ns() // 1_000_000


def to_iso(ms: int | None) -> str | None:
    """``2026-11-21T04:07:41.494Z``; ``None`` for ``None`` and for what no calendar can show."""
    if ms is None:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, OSError, ValueError):
        return None


def from_iso(text: object) -> int | None:
    """Milliseconds of an ISO 8601 time (UTC where no zone is given); ``None`` when it is not one."""
    if not isinstance(text, str):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return round(moment.timestamp() * 1000)
    except (OverflowError, OSError, ValueError):
        return None


def parse_when(text: str, now: int) -> int | None:
    """A moment as people type it: ISO, milliseconds, ``7d``/``24h``/``30m`` ago, ``today``; ``None`` when it is none."""
    word = text.strip().lower()
    if re.fullmatch(r"-?\d{11,16}", word):
        return int(word)
    if re.fullmatch(r"\d{9,10}", word):
        return int(word) * 1000
    if ago := re.fullmatch(r"(\d{1,6})\s*([mhdw])", word):
        unit = {"m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}[ago[2]]
        return now - int(ago[1]) * unit
    day = 86_400_000
    midnight = now - now % day
    if word in {"today", "hoy", "hoje", "aujourd'hui"}:
        return midnight
    if word in {"yesterday", "ayer", "ontem", "hier"}:
        return midnight - day
    return from_iso(text.strip())


def plausible_ms(value: object) -> int | None:
    """``value`` as milliseconds when it can be a time a client wrote; seconds are scaled up; else ``None``."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not (0 < value < 1e17):
        return None
    ms = int(value)
    if ms < 10_000_000_000:  # seconds
        ms *= 1000
    elif ms > 100_000_000_000_000:  # microseconds
        ms //= 1000
    return ms if ms >= _EARLIEST_MS else None
