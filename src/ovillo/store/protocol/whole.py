"""All subjects as one: what a store is.

Owns putting them together.
"""

from __future__ import annotations

from typing import Protocol

from ovillo.store.protocol.audit import AuditStore
from ovillo.store.protocol.changes import ChangeStore
from ovillo.store.protocol.classification import ClassificationStore
from ovillo.store.protocol.code import CodeStore
from ovillo.store.protocol.condition import ConditionStore
from ovillo.store.protocol.contexts import ContextStore
from ovillo.store.protocol.entities import EntityStore
from ovillo.store.protocol.forgetting import ForgettingStore
from ovillo.store.protocol.health import HealthStore
from ovillo.store.protocol.importing import ImportStore
from ovillo.store.protocol.ingest import IngestStore
from ovillo.store.protocol.keys import KeyStore
from ovillo.store.protocol.knowledge import KnowledgeStore
from ovillo.store.protocol.links import LinkStore
from ovillo.store.protocol.recording import RecordingStore
from ovillo.store.protocol.sessions import SessionStore
from ovillo.store.protocol.snapshots import SnapshotStore
from ovillo.store.protocol.text import TextStore
from ovillo.store.protocol.timesheet import TimesheetStore
from ovillo.store.protocol.upkeep import UpkeepStore
from ovillo.store.protocol.vectors import VectorStore


class Store(
    SessionStore,
    RecordingStore,
    ImportStore,
    IngestStore,
    ChangeStore,
    ClassificationStore,
    TextStore,
    VectorStore,
    LinkStore,
    TimesheetStore,
    ContextStore,
    ConditionStore,
    HealthStore,
    SnapshotStore,
    UpkeepStore,
    KeyStore,
    AuditStore,
    CodeStore,
    EntityStore,
    ForgettingStore,
    KnowledgeStore,
    Protocol,
):
    """One namespace-aware store. Thread-safe: readers on their own connections, one writer."""

    def close(self) -> None: ...

    def secret(self, name: str) -> bytes:
        """32 random bytes kept under ``name``, made at first use."""
        ...

    def quick_check(self) -> list[str]:
        """What is wrong with the store's file; empty when it is sound."""
        ...
