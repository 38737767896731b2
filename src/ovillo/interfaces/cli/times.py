"""Moments as people read and type them: local time.

Owns how a moment is written on a terminal, and what ``--since`` and ``--until`` accept.
Answers in JSON say UTC instead (``ovillo.model.clock.to_iso``).
"""

from __future__ import annotations

from ovillo.model.clock import local, parse_end, parse_when, readable_zone
from ovillo.model.errors import InvalidInput


def when(ms: int | None, *, seconds: bool = False) -> str:
    """``2026-11-21 05:07``; empty when unknown."""
    if ms is None:
        return ""
    try:
        return local(ms).strftime("%Y-%m-%d %H:%M:%S" if seconds else "%Y-%m-%d %H:%M")
    except (OverflowError, OSError, ValueError):
        return ""


def when_there(ms: int | None) -> str:
    """``2026-11-21 05:07 CET``: where it stands alone."""
    text = when(ms)
    return f"{text} {readable_zone(local(ms).tzname())}" if ms is not None and text else ""


def moment_of(text: str | None, option: str, now: int) -> int | None:
    """Raises InvalidInput."""
    return None if text is None else _known(text, option, parse_when(text, now))


def end_of(text: str | None, option: str, now: int) -> int | None:
    """Raises InvalidInput."""
    return None if text is None else _known(text, option, parse_end(text, now))


def _known(text: str, option: str, moment: int | None) -> int:
    if moment is None:
        raise InvalidInput(
            f"{option} {text!r} is not a time.", hint="Use 2026-11-21, 2026-11-21T10:00, 7d, 24h, today or yesterday."
        )
    return moment
