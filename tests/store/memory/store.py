"""The memory store: all sub-stores over one ``State``."""

from __future__ import annotations

from ovillo.model.built_once import built_once
from ovillo.model.clock import Clock, system_clock
from ovillo.store.protocol import (
    Analyzer,
    AuditStore,
    ChangeStore,
    ClassificationStore,
    CodeStore,
    CodeVectorStore,
    ContextStore,
    EntityStore,
    ForgettingStore,
    HealthStore,
    ImportStore,
    IngestStore,
    KeyStore,
    KnowledgeStore,
    LeaseStore,
    LinkStore,
    MaintenanceStore,
    RecordingStore,
    SecretStore,
    SessionStore,
    SnapshotStore,
    SourceStore,
    TextStore,
    TimesheetStore,
    VectorStore,
)
from tests.store.memory.state import State


class MemoryStore:
    """Implements ``ovillo.store.protocol.Store``."""

    def __init__(self, analyzer: Analyzer, clock: Clock = system_clock) -> None:
        self._state = State(analyzer, clock)

    def close(self) -> None: ...

    @built_once
    def sessions(self) -> SessionStore:
        raise NotImplementedError

    @built_once
    def recording(self) -> RecordingStore:
        raise NotImplementedError

    @built_once
    def importing(self) -> ImportStore:
        raise NotImplementedError

    @built_once
    def ingest(self) -> IngestStore:
        raise NotImplementedError

    @built_once
    def sources(self) -> SourceStore:
        raise NotImplementedError

    @built_once
    def changes(self) -> ChangeStore:
        raise NotImplementedError

    @built_once
    def classification(self) -> ClassificationStore:
        raise NotImplementedError

    @built_once
    def text(self) -> TextStore:
        raise NotImplementedError

    @built_once
    def vectors(self) -> VectorStore:
        raise NotImplementedError

    @built_once
    def entities(self) -> EntityStore:
        raise NotImplementedError

    @built_once
    def code(self) -> CodeStore:
        raise NotImplementedError

    @built_once
    def code_vectors(self) -> CodeVectorStore:
        raise NotImplementedError

    @built_once
    def knowledge(self) -> KnowledgeStore:
        raise NotImplementedError

    @built_once
    def links(self) -> LinkStore:
        raise NotImplementedError

    @built_once
    def timesheet(self) -> TimesheetStore:
        raise NotImplementedError

    @built_once
    def contexts(self) -> ContextStore:
        raise NotImplementedError

    @built_once
    def snapshots(self) -> SnapshotStore:
        raise NotImplementedError

    @built_once
    def forgetting(self) -> ForgettingStore:
        raise NotImplementedError

    @built_once
    def keys(self) -> KeyStore:
        raise NotImplementedError

    @built_once
    def audit(self) -> AuditStore:
        raise NotImplementedError

    @built_once
    def secrets(self) -> SecretStore:
        raise NotImplementedError

    @built_once
    def leases(self) -> LeaseStore:
        raise NotImplementedError

    @built_once
    def health(self) -> HealthStore:
        raise NotImplementedError

    @built_once
    def maintenance(self) -> MaintenanceStore:
        raise NotImplementedError
