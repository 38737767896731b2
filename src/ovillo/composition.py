"""The composition root: what is built from what, once per process.

Owns every service and how it is made; interfaces see them as ``ovillo.interfaces.services.Services``. Each property
imports what it builds: a start pays for the services it uses and for no others (0.1 s of a search's 0.25 s).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from ovillo.model.built_once import built_once

if TYPE_CHECKING:
    from ovillo.background import Background
    from ovillo.code.service import CodeIndex
    from ovillo.code.watching import CodeWatcher
    from ovillo.entities.service import Entities
    from ovillo.ingest.refresh import Refresh
    from ovillo.ingest.service import Ingest
    from ovillo.ingest.state import ScanState
    from ovillo.legacy.systems import Migrations
    from ovillo.memory.automatic.system import AutoMemorySystem
    from ovillo.memory.chroma.index import ChromaIndex
    from ovillo.memory.contexts import Contexts
    from ovillo.memory.knowledge import Knowledge
    from ovillo.memory.service import Memories
    from ovillo.model.clock import Clock
    from ovillo.model.code import SymbolRow
    from ovillo.model.entities import SessionEntities
    from ovillo.model.masking import MaskingProgress, Rules
    from ovillo.model.outside_index import OutsideIndex
    from ovillo.model.records import Namespace, Session, SessionId
    from ovillo.model.workers import Workers
    from ovillo.readers.protocol import Reader, Source
    from ovillo.references.context.service import ContextService
    from ovillo.references.of_session import SessionReferences
    from ovillo.search.service import Search
    from ovillo.search.symbols.service import SymbolSearch
    from ovillo.security.key_ring import KeyRing
    from ovillo.security.redaction import Redactor
    from ovillo.sessions.activity import ActivityService
    from ovillo.sessions.audit import Audit
    from ovillo.sessions.caller import CallerResolver
    from ovillo.sessions.catalog import Catalog
    from ovillo.sessions.facets import FacetService
    from ovillo.sessions.feed import ChangeFeed
    from ovillo.sessions.forgetting import Forgetting
    from ovillo.sessions.history import History
    from ovillo.sessions.lineage import LineageService
    from ovillo.sessions.link_proposals import LinkProposals
    from ovillo.sessions.links import LinkService
    from ovillo.sessions.maintenance import Maintenance
    from ovillo.sessions.masking import Masking
    from ovillo.sessions.program_state import ProgramState
    from ovillo.sessions.projects import Projects
    from ovillo.sessions.reading import Reading
    from ovillo.sessions.recording import Recorder
    from ovillo.sessions.recovery.builder import Recovery
    from ovillo.sessions.results import Freshness
    from ovillo.sessions.resuming import Resuming
    from ovillo.sessions.retention import Retention
    from ovillo.sessions.snapshots import Snapshots
    from ovillo.sessions.stars import Stars
    from ovillo.sessions.statistics import StatisticsService
    from ovillo.sessions.status import StatusService
    from ovillo.sessions.summaries import SummaryService
    from ovillo.sessions.summary_worker import SummaryWorker
    from ovillo.sessions.timesheet import Timesheet
    from ovillo.sessions.transfer.importing import ImportService
    from ovillo.sessions.transfer.service import Transfer
    from ovillo.sessions.transfer.transcript import Transcript
    from ovillo.sessions.usage.service import UsageService
    from ovillo.settings import Settings
    from ovillo.store.protocol import Store


class Composition:
    """Implements ``ovillo.interfaces.services.Services``. Thread-safe; each service is made once."""

    def __init__(self, settings: Settings, clock: Clock, store: Store, workers: Workers) -> None:
        self.settings = settings
        self.clock = clock
        self.store = store
        self.workers = workers
        self.opened_at = time.monotonic()

    def close(self) -> None:
        """Ends background work and closes the store; safe to call twice."""
        built = vars(self)
        if "summary_worker" in built:
            self.summary_worker.close()
        if "audit" in built:
            self.audit.close()
        if "feed" in built:
            self.feed.close()
        self.store.close()

    # --- what several of them are given

    @property
    def _redactor(self) -> Redactor:
        """The store's; its rules are compiled when the first text comes."""
        return _redactor(self._redaction_key, self.settings.redaction)

    @built_once
    def _redaction_key(self) -> bytes:
        """Whoever asks is about to write: by which rules is noted first."""
        self.store.masking.begin(self._rules)
        return self.store.secrets.get("redaction")

    @built_once
    def _rules(self) -> Rules:
        from ovillo.security.rules_version import rules_of
        from ovillo.security.secret_finders import secret_finders

        mode = self.settings.redaction
        return rules_of(mode, () if mode == "off" else tuple(name for name, _ in secret_finders()))

    def _stored_id(self, given: str) -> str:
        """Which id a client's own has here. Asked only for ids that nothing has: the rules are not loaded before."""
        return str(self._redactor.identifier(given))

    def _freshness(self) -> Freshness:
        from ovillo.sessions.results import Freshness

        return Freshness(self.scan_state.indexed_through(), self.scan_state.pending())

    # --- reading what agents keep, and what was said

    @built_once
    def scan_state(self) -> ScanState:
        from ovillo.ingest.state import ScanState

        return ScanState(self.store.sources)

    @built_once
    def readers(self) -> Mapping[str, Reader]:
        from ovillo.readers import Readers

        return Readers(self.settings.readers)

    @built_once
    def refresh(self) -> Refresh:
        from ovillo.ingest.refresh import Refresh

        return Refresh(
            self.store,
            self.readers,
            lambda: self.ingest,
            environment=self.settings.environment,
            home=self.settings.home,
            clock=self.clock,
            state=self.scan_state,
            has_rules=bool(self.settings.exclude),
        )

    @built_once
    def ingest(self) -> Ingest:
        from ovillo.ingest.service import Ingest

        settings, store = self.settings, self.store
        return Ingest(
            store,
            self.readers,
            partial(_redactor, self._redaction_key, settings.redaction),
            environment=settings.environment,
            home=settings.home,
            clock=self.clock,
            state=self.scan_state,
            exclude=settings.exclude,
        )

    @built_once
    def catalog(self) -> Catalog:
        from ovillo.sessions.catalog import Catalog

        return Catalog(self.store.sessions, self._freshness, self._stored_id, _source_names, self.projects)

    @built_once
    def history(self) -> History:
        from ovillo.sessions.history import History

        return History(self.store.sessions, self._freshness, self._stored_id)

    @built_once
    def resuming(self) -> Resuming:
        from ovillo.readers import program_of, programs
        from ovillo.sessions.resuming import Resuming

        return Resuming(self.store.sessions, program_of, programs)

    @built_once
    def lineage(self) -> LineageService:
        from ovillo.sessions.lineage import LineageService

        return LineageService(self.store.sessions)

    @built_once
    def statistics(self) -> StatisticsService:
        from ovillo.sessions.statistics import StatisticsService

        return StatisticsService(self.store.sessions, self.lineage)

    @built_once
    def usage(self) -> UsageService:
        from ovillo.sessions.usage.price_book import PriceBook
        from ovillo.sessions.usage.service import UsageService

        prices = PriceBook(self.settings.prices_file, self.settings.data_dir)
        return UsageService(self.store.usage, self.store.sessions, lambda: self.projects, prices, _source_names)

    @built_once
    def facets(self) -> FacetService:
        from ovillo.sessions.facets import FacetService

        return FacetService(self.store.overview, self.store.sessions, self.projects)

    @built_once
    def stars(self) -> Stars:
        from ovillo.sessions.stars import Stars

        return Stars(self.store.overview, self.clock)

    @built_once
    def activity(self) -> ActivityService:
        from ovillo.sessions.activity import ActivityService

        return ActivityService(self.store.overview, self.store.sessions, self.projects)

    @built_once
    def recovery(self) -> Recovery:
        from ovillo.sessions.recovery.builder import Recovery

        return Recovery(self.history)

    @built_once
    def search(self) -> Search:
        from ovillo.search.service import Search

        def sessions_of(namespace: Namespace, name: str) -> set[SessionId] | None:
            """Builds the service of entities, 60 ms of a start, for ``entity:`` only."""
            return self.entities.sessions_of(namespace, name)

        return Search(
            self.store,
            self.catalog.summaries,
            sessions_of,
            self._freshness,
            self.settings,
            self.clock,
            self.projects,
            _source_names,
        )

    @built_once
    def caller(self) -> CallerResolver:
        from ovillo.readers import all_readers
        from ovillo.sessions.caller import CallerResolver

        def sources() -> list[Source]:
            """Builds the service that reads, 40 ms of a start, for calls that a client may have written down."""
            return self.ingest.discovered()

        return CallerResolver(self.store.sessions, sources, all_readers, self.settings.environment, self.clock)

    @built_once
    def projects(self) -> Projects:
        from ovillo.security.repositories import Repositories
        from ovillo.sessions.projects import Projects

        return Projects(self.store, Repositories(self.settings.home))

    @built_once
    def keys(self) -> KeyRing:
        from ovillo.security.key_ring import KeyRing

        return KeyRing(self.store.keys, self.store.secrets.get("access-keys"), self.clock)

    @built_once
    def snapshots(self) -> Snapshots:
        from ovillo.sessions.snapshots import Snapshots

        return Snapshots(self.store, self._redactor, self.clock)

    @built_once
    def program_state(self) -> ProgramState:
        from ovillo.sessions.program_state import ProgramState

        return ProgramState(self.store.program_state, self._redactor, self.clock)

    @built_once
    def transfer(self) -> Transfer:
        from ovillo.sessions.transfer.service import Transfer

        return Transfer(self.store, self.history, self.statistics, self.clock, _write_html)

    @built_once
    def importer(self) -> ImportService:
        from ovillo.sessions.transfer.importing import ImportService

        return ImportService(self.store.importing, self._redactor, self.clock)

    @built_once
    def maintenance(self) -> Maintenance:
        from ovillo.sessions.maintenance import Maintenance

        return Maintenance(self.store, self.clock)

    @built_once
    def recorder(self) -> Recorder:
        from ovillo.sessions.recording import Recorder

        return Recorder(self.store, self._redactor, self.clock, self.summary_worker.grown)

    @built_once
    def feed(self) -> ChangeFeed:
        from ovillo.sessions.feed import ChangeFeed

        return ChangeFeed(self.store)

    @built_once
    def reading(self) -> Reading:
        from ovillo.sessions.reading import Reading

        def entities(namespace: Namespace, session_id: SessionId, most: int, version: str) -> SessionEntities:
            # Made when a session is shown: pages of messages do not wait for it.
            return self.entities.of_session(namespace, session_id, most, version)

        return Reading(
            self.store, self.catalog, self.history, self.summaries, self.summary_worker, self.links, entities
        )

    @built_once
    def summaries(self) -> SummaryService:
        from ovillo.sessions.summaries import SummaryService
        from ovillo.sessions.summarizers import open_summarizer

        return SummaryService(self.store, self.settings, self.clock, partial(open_summarizer, self.settings))

    @built_once
    def summary_worker(self) -> SummaryWorker:
        from ovillo.sessions.summary_worker import SummaryWorker

        return SummaryWorker(self.store, self.summaries, self.settings, self.clock)

    @built_once
    def context(self) -> ContextService:
        from ovillo.references.opening import open_context

        return open_context(self)

    @built_once
    def audit(self) -> Audit:
        from ovillo.sessions.audit import Audit

        settings = self.settings
        return Audit(self.store.audit, self.clock, settings.audit_sessions, settings.audit_days)

    @built_once
    def retention(self) -> Retention:
        from ovillo.sessions.retention import Retention

        return Retention(self.store, self.settings, self.clock, self.audit)

    @built_once
    def masking(self) -> Masking:
        from ovillo.sessions.masking import Masking

        def elsewhere() -> list[tuple[str, Callable[[], int]]]:
            """What is made of files, and copies beside the store; built only to be masked again."""
            spaces = self.store.sessions.namespaces()
            return [
                ("code", lambda: self.code.mask_again(spaces)),
                ("documents", lambda: self.knowledge.mask_again(spaces)),
                ("copies of records", lambda: self.memories.operational.mask_again(spaces)),
            ]

        return Masking(self.store, self._rules, lambda: self._redactor, elsewhere)

    @built_once
    def forgetting(self) -> Forgetting:
        from ovillo.sessions.forgetting import Forgetting

        def is_excluded() -> Callable[[Session], bool]:
            clients, rules = self.ingest.excluded_clients(), self.ingest.exclusion()
            return lambda session: session.source in clients or rules.of_session(session) is not None

        def drop_copies(namespace: Namespace, memories: frozenset[str]) -> None:
            """Builds the service of memories only where they have copies."""
            if self.settings.memory_folder is not None:
                self.memories.operational.forget(namespace, memories)

        at = self.settings.data_dir
        return Forgetting(self.store, self.catalog, self.audit, self.clock, at, is_excluded, drop_copies)

    @built_once
    def links(self) -> LinkService:
        from ovillo.sessions.links import LinkService

        return LinkService(self.store, self._redactor, self.clock)

    @built_once
    def link_proposals(self) -> LinkProposals:
        from ovillo.sessions.link_proposals import LinkProposals

        return LinkProposals(self.store, self.links, self.clock)

    @built_once
    def timesheet(self) -> Timesheet:
        from ovillo.sessions.timesheet import Timesheet

        return Timesheet(self.store.timesheet, self._redactor, self.clock, time.monotonic)

    @built_once
    def contexts(self) -> Contexts:
        from ovillo.memory.contexts import Contexts

        return Contexts(self.store.contexts, self._redactor, self.clock)

    @built_once
    def memories(self) -> Memories:
        from ovillo.memory.meaning import Meaning
        from ovillo.memory.operational.json_folder import JsonFolder
        from ovillo.memory.service import Memories

        at, unified = self.settings.memory_folder, self.settings.unified_memory
        folder = None if at is None else JsonFolder(at, unified=unified)
        meaning = Meaning(self.store, self.settings)
        return Memories(self.store, self._redactor, self.clock, self.audit, meaning, folder, self.chroma)

    @built_once
    def chroma(self) -> ChromaIndex | None:
        """Where a Chroma server is set."""
        if not self.settings.uses_chroma:
            return None
        return self.chroma_collection(self.settings.chroma_collection)

    def chroma_collection(self, name: str) -> ChromaIndex | None:
        """A collection of that server."""
        from ovillo.memory.chroma.client import ChromaClient
        from ovillo.memory.chroma.index import ChromaIndex
        from ovillo.search.embedders import open_embedder

        client = ChromaClient.of(self.settings)
        return None if client is None else ChromaIndex(client, name, self.store, partial(open_embedder, self.settings))

    @built_once
    def auto_memory(self) -> AutoMemorySystem:
        from ovillo.memory.automatic.near_search import ByChroma, ByVectors
        from ovillo.memory.automatic.search import ContextSearch, StoreSearch
        from ovillo.memory.automatic.system import AutoMemoryConfig, AutoMemorySystem
        from ovillo.search.analysis import TextAnalyzer

        settings = self.settings
        config = AutoMemoryConfig(
            settings.orch_context_mode,
            settings.context_topk,
            settings.context_timeout_ms,
            settings.context_summary_bytes,
            settings.enable_orch_context,
        )
        memories = self.store.memories

        def searches() -> list[ContextSearch]:
            of_store = StoreSearch(memories, TextAnalyzer, self.clock, self.memories.operational.catch_up)
            return [
                of_store,
                *([ByVectors(memories, self.clock, self.memories.meaning)] if settings.embedder != "none" else []),
                *([ByChroma(memories, self.clock, self.memories.near)] if self.chroma is not None else []),
            ]

        return AutoMemorySystem(config, self._redactor, searches)

    @built_once
    def status(self) -> StatusService:
        from ovillo.sessions.status import StatusService

        def embedded(namespace: Namespace) -> tuple[int, int] | None:
            from ovillo.search.embedders import model_id

            model = model_id(self.settings)
            return None if model is None else self.store.vectors.share(namespace, model)

        def outside_index() -> OutsideIndex | None:
            """Asks the server that the settings name, within seconds."""
            return None if self.chroma is None else self.chroma.standing(self.store.sessions.namespaces())

        def masking_progress() -> MaskingProgress:
            """Builds the service for whoever asks how far it is only."""
            return self.masking.progress()

        return StatusService(
            self.store,
            self.settings.data_dir,
            self.clock,
            lambda: time.monotonic() - self.opened_at,
            embedded,
            self.workers,
            masking_progress,
            outside_index,
        )

    @built_once
    def code(self) -> CodeIndex:
        from ovillo.code.service import CodeIndex

        return CodeIndex(self.store, self.settings, self.clock, self._redactor)

    @built_once
    def code_watcher(self) -> CodeWatcher:
        from ovillo.code.watching import CodeWatcher

        return CodeWatcher(self.code)

    @built_once
    def symbols(self) -> SymbolSearch:
        from ovillo.search.symbols.service import SymbolSearch
        from ovillo.search.symbols.vectors import SymbolVectors

        return SymbolSearch(self.store.code, self.code, SymbolVectors(self.store, self.settings, self.code))

    @built_once
    def entities(self) -> Entities:
        from ovillo.entities.service import Entities
        from ovillo.model.entities import EntityType

        settings = self.settings
        kinds = {
            (EntityType.FUNCTION, EntityType.METHOD): settings.track_functions,
            (EntityType.CLASS,): settings.track_classes,
            (EntityType.IDENTIFIER,): settings.track_variables,
        }
        passed_over = [kind for several, is_kept in kinds.items() if not is_kept for kind in several]
        return Entities(self.store, is_tracking=settings.entity_tracking, passed_over=passed_over)

    @built_once
    def references(self) -> SessionReferences:
        from ovillo.references.of_session import SessionReferences

        def described(namespace: Namespace, session: Session, words: str) -> list[SymbolRow]:
            # Made when a turn says a place: no other resolution searches the code.
            if not self.code.has_any(namespace):
                return []
            home = self.projects.of_session(namespace, session)
            scope = self.projects.known(namespace).scope(home)
            return [symbol for symbol, _ in self.symbols.described(namespace, words, scope)]

        return SessionReferences(self.store.sessions, self.entities, self.code, self.projects, described, self.clock)

    @built_once
    def background(self) -> Background:
        from ovillo.background import Background

        return Background(self)

    @built_once
    def migrations(self) -> Migrations:
        from ovillo.legacy.systems import Migrations
        from ovillo.memory.migration import MigrationTarget

        return Migrations(MigrationTarget(self.store, self._redactor, self.clock, self.knowledge, self.code))

    @built_once
    def knowledge(self) -> Knowledge:
        from ovillo.memory.knowledge import Knowledge

        return Knowledge(self.store, self.settings, self.clock, self._redactor)


def _redactor(secret: bytes, mode: str) -> Redactor:
    from ovillo.security.redaction import redactor_for

    return redactor_for(secret, mode)


def _write_html(transcript: Transcript) -> Iterator[str]:
    from ovillo.interfaces.web.exporting import write_html  # start-up cost: templates and Markdown, for this form only

    return write_html(transcript)


def _source_names() -> list[str]:
    """What a filter may name: every client that could be read, and what is recorded here."""
    from ovillo.model.live import NATIVE
    from ovillo.readers import Readers

    return [*Readers(), NATIVE]
