"""What a store can tell of its own condition, cheaply enough to be asked often."""

from __future__ import annotations

from typing import Protocol

from ovillo.model.coordination import StoreHealth
from ovillo.model.records import Namespace
from ovillo.store.protocol.condition import StoreCondition, StoreContent


class HealthStore(Protocol):
    def report(self, namespace: Namespace) -> StoreHealth:
        """Never raises for damage: it is told in ``problems``. A large store is looked at in its main places only;
        ``quick_check`` reads all of it. ``schema_version`` is the engine's own count of its layouts, from 1."""
        ...

    def probe_writer(self, timeout_s: float) -> bool:
        """Whether the writer has taken and committed an empty transaction in time. Raises StoreUnavailable and
        IntegrityError when it cannot write at all."""
        ...

    def quick_check(self) -> list[str]:
        """What is wrong with the store; empty when it is sound. Reads all of it."""
        ...

    def condition(self) -> StoreCondition:
        """Cheap: asks no table."""
        ...

    def content(self) -> StoreContent:
        """Reads a row a session: for a scrape every few seconds, not for every request."""
        ...
