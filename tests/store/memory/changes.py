"""The change log."""

from __future__ import annotations

from collections.abc import Callable

from ovillo.model.records import Namespace
from ovillo.store.protocol import Change
from tests.store.memory.substore import SubStore


class Changes(SubStore):
    def since(self, namespace: Namespace, since: int, limit: int) -> list[Change]:
        return [change for change in self._state.space(namespace).changes if change.seq > since][:limit]

    def last(self, namespace: Namespace) -> int:
        return self._state.space(namespace).last_change

    def listen(self, callback: Callable[[], None]) -> Callable[[], None]:
        name = object()
        self._state.listeners[name] = callback

        def stop() -> None:
            self._state.listeners.pop(name, None)

        return stop
