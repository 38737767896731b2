"""Whether somebody waits for an answer of this process: work beside the answers leaves the processor, and the interpreter, to them.

Owns counting answers and waiting for none. Who answers counts (``interfaces.turns``); who works beside it waits (``background``).
"""

from __future__ import annotations

import threading
import time

#: Clients ask again at once: so long after an answer the next question may come (seconds).
_PAUSE_S = 0.05
_LOOK_S = 0.02


class Foreground:
    """Thread-safe. Answers are made inside of it, any number at once: ``with foreground: …``."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answering = 0
        self._answered_at = float("-inf")

    def __enter__(self) -> None:
        with self._lock:
            self._answering += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._answering -= 1
            self._answered_at = time.monotonic()

    @property
    def is_quiet(self) -> bool:
        return not self._answering and time.monotonic() - self._answered_at >= _PAUSE_S

    def wait_until_quiet(self, stop: threading.Event, most_s: float) -> None:
        """Until it is quiet, ``stop`` is set, or ``most_s`` passed: what waits must be done some day."""
        deadline = time.monotonic() + most_s
        while not self.is_quiet and time.monotonic() < deadline and not stop.wait(_LOOK_S):
            pass
