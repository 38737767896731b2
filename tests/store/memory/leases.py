"""Leases: there is one process, so that a lock a name is enough."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from tests.store.memory.substore import SubStore


class Leases(SubStore):
    @contextmanager
    def hold(self, name: str, wait_s: float = 0) -> Iterator[bool]:
        lock = self._state.leases.setdefault(name, threading.Lock())
        if not lock.acquire(timeout=wait_s):
            yield False
            return
        try:
            yield True
        finally:
            lock.release()
