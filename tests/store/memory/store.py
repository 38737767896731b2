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
    MaskingStore,
    MemoriesStore,
    MemoryVectorStore,
    OverviewStore,
    ProgramStateStore,
    RecordingStore,
    SecretStore,
    SessionStore,
    SnapshotStore,
    SourceStore,
    TextStore,
    TimesheetStore,
    UsageStore,
    VectorStore,
)
from tests.store.memory.audit import Audit
from tests.store.memory.changes import Changes
from tests.store.memory.classification import Classification
from tests.store.memory.code import Code, CodeVectors
from tests.store.memory.contexts import Contexts
from tests.store.memory.entities import Entities
from tests.store.memory.forgetting import Forgetting
from tests.store.memory.health import Health
from tests.store.memory.importing import Importing
from tests.store.memory.ingest import Ingest
from tests.store.memory.keys import Keys
from tests.store.memory.knowledge import Knowledge
from tests.store.memory.leases import Leases
from tests.store.memory.links import Links
from tests.store.memory.maintenance import Maintenance
from tests.store.memory.masking import Masking
from tests.store.memory.memories import Memories
from tests.store.memory.memory_vectors import MemoryVectors
from tests.store.memory.overview import Overview
from tests.store.memory.program_state import ProgramState
from tests.store.memory.recording import Recording
from tests.store.memory.secrets import Secrets
from tests.store.memory.sessions import Sessions
from tests.store.memory.snapshots import Snapshots
from tests.store.memory.sources import Sources
from tests.store.memory.state import State
from tests.store.memory.text import Text
from tests.store.memory.timesheet import Timesheet
from tests.store.memory.usage import UsageOfModels
from tests.store.memory.vectors import Vectors


class MemoryStore:
    """Implements ``ovillo.store.protocol.Store``."""

    def __init__(self, analyzer: Analyzer, clock: Clock = system_clock, state: State | None = None) -> None:
        self._state = state or State(analyzer, clock)

    def close(self) -> None:
        self._state.is_closed = True

    @built_once
    def sessions(self) -> SessionStore:
        return Sessions(self._state)

    @built_once
    def recording(self) -> RecordingStore:
        return Recording(self._state)

    @built_once
    def importing(self) -> ImportStore:
        return Importing(self._state)

    @built_once
    def ingest(self) -> IngestStore:
        return Ingest(self._state)

    @built_once
    def sources(self) -> SourceStore:
        return Sources(self._state)

    @built_once
    def changes(self) -> ChangeStore:
        return Changes(self._state)

    @built_once
    def classification(self) -> ClassificationStore:
        return Classification(self._state)

    @built_once
    def text(self) -> TextStore:
        return Text(self._state)

    @built_once
    def vectors(self) -> VectorStore:
        return Vectors(self._state)

    @built_once
    def entities(self) -> EntityStore:
        return Entities(self._state)

    @built_once
    def code(self) -> CodeStore:
        return Code(self._state)

    @built_once
    def code_vectors(self) -> CodeVectorStore:
        return CodeVectors(self._state)

    @built_once
    def knowledge(self) -> KnowledgeStore:
        return Knowledge(self._state)

    @built_once
    def links(self) -> LinkStore:
        return Links(self._state)

    @built_once
    def timesheet(self) -> TimesheetStore:
        return Timesheet(self._state)

    @built_once
    def usage(self) -> UsageStore:
        return UsageOfModels(self._state)

    @built_once
    def overview(self) -> OverviewStore:
        return Overview(self._state)

    @built_once
    def contexts(self) -> ContextStore:
        return Contexts(self._state)

    @built_once
    def memories(self) -> MemoriesStore:
        return Memories(self._state)

    @built_once
    def memory_vectors(self) -> MemoryVectorStore:
        return MemoryVectors(self._state)

    @built_once
    def snapshots(self) -> SnapshotStore:
        return Snapshots(self._state)

    @built_once
    def program_state(self) -> ProgramStateStore:
        return ProgramState(self._state)

    @built_once
    def forgetting(self) -> ForgettingStore:
        return Forgetting(self._state)

    @built_once
    def masking(self) -> MaskingStore:
        return Masking(self._state)

    @built_once
    def keys(self) -> KeyStore:
        return Keys(self._state)

    @built_once
    def audit(self) -> AuditStore:
        return Audit(self._state)

    @built_once
    def secrets(self) -> SecretStore:
        return Secrets(self._state)

    @built_once
    def leases(self) -> LeaseStore:
        return Leases(self._state)

    @built_once
    def health(self) -> HealthStore:
        return Health(self._state)

    @built_once
    def maintenance(self) -> MaintenanceStore:
        return Maintenance(self._state)
