"""One line on a terminal that shows how far something is, drawn over itself, gone at the end.

Owns drawing. What is counted, and whether there is to be a bar, is the command's.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from types import TracebackType

from ovillo.interfaces.cli.cells import cells_of, cut
from ovillo.interfaces.cli.screen import Screen, styled
from ovillo.model.quoting import flat

#: Seconds between two drawings.
_PAUSE_S = 0.1
_ERASED = "\r\x1b[2K"
_LEAST_BAR, _MOST_BAR = 4, 60
_USUAL_COLUMNS = 80
_MEGABYTE = 1e6


@dataclass(slots=True)
class _State:
    title: str
    done: int = 0
    total: int = 0
    note: str = ""


class Bar:
    """Thread-safe. ``in_bytes``: a share and megabytes instead of counts."""

    def __init__(self, screen: Screen, title: str, *, in_bytes: bool = False) -> None:
        self._screen = screen
        self._in_bytes = in_bytes
        self._state = _State(title)
        self._lock = threading.Lock()
        self._began = self._drawn = 0.0

    def __enter__(self) -> Bar:
        self._began = time.monotonic()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            if self._drawn:
                self._draw()
                self._send(_ERASED)

    def update(self, done: int, total: int, *, title: str | None = None, note: str = "") -> None:
        with self._lock:
            self._state = _State(self._state.title if title is None else title, done, total, note)
            if time.monotonic() - self._drawn >= _PAUSE_S:
                self._draw()

    def _draw(self) -> None:
        self._drawn = time.monotonic()
        columns = (self._screen.columns or _USUAL_COLUMNS) - 1
        before, after = (
            flat(self._state.title),
            "  ".join(filter(None, (self._figures(), flat(self._state.note), self._left()))),
        )
        room = min(columns - cells_of(before) - cells_of(after) - 2, _MOST_BAR)
        if room < _LEAST_BAR:
            self._send(_ERASED + cut(f"{before} {after}", columns))
            return
        filled = room * min(self._state.done, self._state.total) // self._state.total if self._state.total else 0
        bar = self._colored("━" * filled, "green") + self._colored("━" * (room - filled), "dim")
        self._send(f"{_ERASED}{before} {bar} {after}")

    def _figures(self) -> str:
        state = self._state
        if not self._in_bytes:
            return f"{state.done:,}/{state.total:,}" if state.total else f"{state.done:,}"
        share = 100 * state.done // state.total if state.total else 0
        return f"{min(share, 100)}%  {state.done / _MEGABYTE:,.1f}/{state.total / _MEGABYTE:,.1f} MB"

    def _left(self) -> str:
        """Time that the rest takes at the speed so far."""
        passed = time.monotonic() - self._began
        if not self._state.done or not self._state.total:
            return ""
        left = round(passed * max(self._state.total - self._state.done, 0) / self._state.done)
        return f"{left // 3600}:{left // 60 % 60:02}:{left % 60:02}" if left >= 3600 else f"{left // 60}:{left % 60:02}"

    def _colored(self, text: str, style: str) -> str:
        return styled(text, style) if self._screen.has_colors else text

    def _send(self, text: str) -> None:
        stream = self._screen.stream
        encoding = stream.encoding or "utf-8"
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
