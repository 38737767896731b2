"""What every store does, whatever holds the bytes: the contract that ``tests/store`` runs on each.

Owns the shapes between services and stores, a module a subject. A namespace comes first in every call; no SQL leaves
``store/``. Reads are snapshots and take no write lock; writes return after COMMIT.
"""

from __future__ import annotations

from typing import Protocol

from ovillo.store.protocol.analysis import Analyzer, Preparation
from ovillo.store.protocol.changes import Change, ChangeStore
from ovillo.store.protocol.classification import ClassificationStore
from ovillo.store.protocol.code import CodeStore, FileStamp
from ovillo.store.protocol.condition import ConditionStore, StoreCondition, StoreContent
from ovillo.store.protocol.contexts import ContextStore
from ovillo.store.protocol.entities import EntityStore, TrackedPart, TrackState, Walk
from ovillo.store.protocol.health import HealthStore
from ovillo.store.protocol.importing import ImportStore
from ovillo.store.protocol.ingest import Applied, IngestStore, PlaceState
from ovillo.store.protocol.keys import KeyStore
from ovillo.store.protocol.knowledge import KnowledgeStore
from ovillo.store.protocol.links import LinkStore
from ovillo.store.protocol.recording import RecordingStore
from ovillo.store.protocol.sessions import SessionCounts, SessionFilter, SessionRow, SessionStore, Totals
from ovillo.store.protocol.snapshots import EncodedSnapshot, Snapshot, SnapshotStore
from ovillo.store.protocol.text import (
    AllOf,
    AnyOf,
    Doc,
    DocFilter,
    DocId,
    Except,
    IndexStats,
    Match,
    Order,
    Phrase,
    Prefix,
    Scored,
    Term,
    TextStore,
)
from ovillo.store.protocol.timesheet import TimesheetStore
from ovillo.store.protocol.upkeep import StoreSize, UpkeepStore
from ovillo.store.protocol.vectors import VectorStore

__all__ = [
    "AllOf",
    "Analyzer",
    "AnyOf",
    "Applied",
    "Change",
    "ChangeStore",
    "ClassificationStore",
    "CodeStore",
    "ConditionStore",
    "ContextStore",
    "Doc",
    "DocFilter",
    "DocId",
    "EncodedSnapshot",
    "EntityStore",
    "Except",
    "FileStamp",
    "HealthStore",
    "ImportStore",
    "IndexStats",
    "IngestStore",
    "KeyStore",
    "KnowledgeStore",
    "LinkStore",
    "Match",
    "Order",
    "Phrase",
    "PlaceState",
    "Prefix",
    "Preparation",
    "RecordingStore",
    "Scored",
    "SessionCounts",
    "SessionFilter",
    "SessionRow",
    "SessionStore",
    "Snapshot",
    "SnapshotStore",
    "Store",
    "StoreCondition",
    "StoreContent",
    "StoreSize",
    "Term",
    "TextStore",
    "TimesheetStore",
    "Totals",
    "TrackState",
    "TrackedPart",
    "UpkeepStore",
    "VectorStore",
    "Walk",
]


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
    CodeStore,
    EntityStore,
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
