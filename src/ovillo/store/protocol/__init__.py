"""What every store does, whatever holds the data: the contract that ``tests/store`` checks on each.

Owns the types between services and stores, one module per subject. Every call takes a namespace first; no SQL leaves
``store/``. Reads are snapshots and take no write lock; writes return after COMMIT.

Names are imported on first use: importing all of them takes 50 ms of a start that needs only a few.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ovillo.store.protocol.analysis import Analyzer, Preparation
    from ovillo.store.protocol.audit import AuditStore
    from ovillo.store.protocol.changes import Change, ChangeStore
    from ovillo.store.protocol.classification import ClassificationStore
    from ovillo.store.protocol.code import CodeStore, CodeVectorStore, FileStamp
    from ovillo.store.protocol.condition import StoreCondition, StoreContent
    from ovillo.store.protocol.contexts import ContextStore
    from ovillo.store.protocol.entities import EntityStore, TrackedPart, TrackedRange, TrackState
    from ovillo.store.protocol.forgetting import ForgettingStore, Traces
    from ovillo.store.protocol.health import HealthStore
    from ovillo.store.protocol.importing import ImportStore
    from ovillo.store.protocol.ingest import Applied, IngestStore
    from ovillo.store.protocol.keys import KeyStore
    from ovillo.store.protocol.knowledge import KnowledgeStore
    from ovillo.store.protocol.leases import LeaseStore
    from ovillo.store.protocol.links import LinkStore
    from ovillo.store.protocol.maintenance import MaintenanceStore, StoreSize
    from ovillo.store.protocol.masking import Masker, MaskingStep, MaskingStore
    from ovillo.store.protocol.memories import MemoriesStore
    from ovillo.store.protocol.memory_vectors import MemoryVectorStore
    from ovillo.store.protocol.overview import OverviewStore
    from ovillo.store.protocol.program_state import ProgramStateStore, Shelf
    from ovillo.store.protocol.recording import RecordingStore
    from ovillo.store.protocol.secrets import SecretStore
    from ovillo.store.protocol.sessions import SessionStore
    from ovillo.store.protocol.snapshots import EncodedSnapshot, SnapshotStore
    from ovillo.store.protocol.sources import SourceState, SourceStore
    from ovillo.store.protocol.store import Store
    from ovillo.store.protocol.text import (
        AllOf,
        AnyOf,
        Doc,
        DocFilter,
        DocId,
        Except,
        IndexStats,
        Match,
        Matched,
        Order,
        Outline,
        Phrase,
        Prefix,
        Term,
        TextStore,
    )
    from ovillo.store.protocol.timesheet import TimesheetStore
    from ovillo.store.protocol.usage import UsageStore
    from ovillo.store.protocol.vectors import VectorStore

_NAMES = {
    "analysis": (
        "Analyzer",
        "Preparation",
    ),
    "audit": ("AuditStore",),
    "changes": (
        "Change",
        "ChangeStore",
    ),
    "classification": ("ClassificationStore",),
    "code": (
        "CodeStore",
        "CodeVectorStore",
        "FileStamp",
    ),
    "condition": (
        "StoreCondition",
        "StoreContent",
    ),
    "contexts": ("ContextStore",),
    "entities": (
        "EntityStore",
        "TrackedPart",
        "TrackState",
        "TrackedRange",
    ),
    "forgetting": (
        "ForgettingStore",
        "Traces",
    ),
    "health": ("HealthStore",),
    "importing": ("ImportStore",),
    "ingest": (
        "Applied",
        "IngestStore",
    ),
    "keys": ("KeyStore",),
    "knowledge": ("KnowledgeStore",),
    "leases": ("LeaseStore",),
    "links": ("LinkStore",),
    "masking": (
        "Masker",
        "MaskingStep",
        "MaskingStore",
    ),
    "memories": ("MemoriesStore",),
    "memory_vectors": ("MemoryVectorStore",),
    "overview": ("OverviewStore",),
    "program_state": (
        "ProgramStateStore",
        "Shelf",
    ),
    "recording": ("RecordingStore",),
    "secrets": ("SecretStore",),
    "sources": ("SourceState", "SourceStore"),
    "sessions": ("SessionStore",),
    "snapshots": (
        "EncodedSnapshot",
        "SnapshotStore",
    ),
    "text": (
        "AllOf",
        "AnyOf",
        "Doc",
        "DocFilter",
        "DocId",
        "Except",
        "IndexStats",
        "Match",
        "Order",
        "Outline",
        "Phrase",
        "Prefix",
        "Matched",
        "Term",
        "TextStore",
    ),
    "timesheet": ("TimesheetStore",),
    "maintenance": (
        "StoreSize",
        "MaintenanceStore",
    ),
    "usage": ("UsageStore",),
    "vectors": ("VectorStore",),
    "store": ("Store",),
}
_WHERE = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "AllOf",
    "Analyzer",
    "AnyOf",
    "Applied",
    "AuditStore",
    "Change",
    "ChangeStore",
    "ClassificationStore",
    "CodeStore",
    "CodeVectorStore",
    "ContextStore",
    "Doc",
    "DocFilter",
    "DocId",
    "EncodedSnapshot",
    "EntityStore",
    "Except",
    "FileStamp",
    "ForgettingStore",
    "HealthStore",
    "ImportStore",
    "IndexStats",
    "IngestStore",
    "KeyStore",
    "KnowledgeStore",
    "LeaseStore",
    "LinkStore",
    "MaintenanceStore",
    "Masker",
    "MaskingStep",
    "MaskingStore",
    "Match",
    "Matched",
    "MemoriesStore",
    "MemoryVectorStore",
    "Order",
    "Outline",
    "OverviewStore",
    "Phrase",
    "Prefix",
    "Preparation",
    "ProgramStateStore",
    "RecordingStore",
    "SecretStore",
    "SessionStore",
    "Shelf",
    "SnapshotStore",
    "SourceState",
    "SourceStore",
    "Store",
    "StoreCondition",
    "StoreContent",
    "StoreSize",
    "Term",
    "TextStore",
    "TimesheetStore",
    "Traces",
    "TrackState",
    "TrackedPart",
    "TrackedRange",
    "UsageStore",
    "VectorStore",
]


def __getattr__(name: str) -> Any:
    module = _WHERE.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(f"{__name__}.{module}"), name)
    return found
