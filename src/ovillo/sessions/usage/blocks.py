"""Blocks of five hours, in which Claude's plans count: a block begins with the full hour of its first answer, and the next answer
behind its end, or after five hours of silence, begins another.

Owns where each begins. Blocks of one client know nothing of another's.
"""

from __future__ import annotations

BLOCK_MS = 5 * 3_600_000
_HOUR_MS = 3_600_000


class Blocks:
    """Answers are told in the order of their time."""

    def __init__(self) -> None:
        self._open: dict[str, tuple[int, int]] = {}

    def beginning(self, source: str, at: int) -> int:
        began, last = self._open.get(source, (None, 0))
        if began is None or at >= began + BLOCK_MS or at - last >= BLOCK_MS:
            began = at - at % _HOUR_MS
        self._open[source] = began, at
        return began

    def open_at(self, source: str, now: int) -> int | None:
        """When the block began that is open now; ``None`` when there is none."""
        began, last = self._open.get(source, (0, 0))
        return began if last and now < began + BLOCK_MS and now - last < BLOCK_MS else None
