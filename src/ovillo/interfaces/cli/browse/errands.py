"""Work beside the screen: one thread that does what was asked last.

Owns the thread. Of each kind only the newest errand counts: whoever types on is not kept by what was asked before.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue

#: What is done, and what is then done on the thread of the screen.
Work = Callable[[], object]
Then = Callable[[object], None]


class Errands:
    def __init__(self, done: Callable[[], None]) -> None:
        """``done`` is called, on the thread of the errands, when something can be fetched."""
        self._tell = done
        self._waiting: dict[str, tuple[Work, Then]] = {}
        self._ready: SimpleQueue[tuple[Then, object]] = SimpleQueue()
        self._changed = threading.Condition()
        self._is_over = False
        self._thread = threading.Thread(target=self._run, name="ovillo-browse", daemon=True)
        self._thread.start()

    def ask(self, kind: str, work: Work, then: Then) -> None:
        """In place of what was asked of this kind and has not begun. Kinds that were asked first go first."""
        with self._changed:
            self._waiting[kind] = work, then
            self._changed.notify()

    def drop(self, kind: str) -> None:
        with self._changed:
            self._waiting.pop(kind, None)

    def fetch(self) -> bool:
        """Does what follows on each errand that is done; whether there was one. What failed is handed on as its exception."""
        was_one = False
        while True:
            try:
                then, found = self._ready.get_nowait()
            except Empty:
                return was_one
            was_one = True
            then(found)

    def close(self, within_s: float = 2.0) -> None:
        """What runs is waited for a little: the store is closed after it."""
        with self._changed:
            self._is_over = True
            self._waiting.clear()
            self._changed.notify()
        self._thread.join(within_s)

    def _run(self) -> None:
        while (errand := self._next()) is not None:
            work, then = errand
            try:
                found = work()
            except Exception as error:  # noqa: BLE001  The edge of the thread: the screen says what failed.
                found = error
            with self._changed:
                # Afterwards nobody is there to be told.
                if not self._is_over:
                    self._ready.put((then, found))
                    self._tell()

    def _next(self) -> tuple[Work, Then] | None:
        """What was asked first; ``None`` when it is over."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_over or self._waiting)
            if self._is_over:
                return None
            return self._waiting.pop(next(iter(self._waiting)))
