"""Text with what was found in it, cut for the page that marks it.

Owns the cutting; the macro of ``templates/_marks.html`` draws the pieces.
"""

from __future__ import annotations

from collections.abc import Sequence


def pieces(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    """``text`` cut where spans ``(start, end)`` begin and end: every second piece is one of them. What overlaps an earlier
    one is passed over."""
    cut, at = list[str](), 0
    for start, end in sorted(spans):
        if start < at:
            continue
        cut += [text[at:start], text[start:end]]
        at = end
    return [*cut, text[at:]]
