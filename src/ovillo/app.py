"""The composition root: settings in, services out.

Owns what is built from what, once per process. Everything below gets its collaborators handed in. Each builder
imports what it builds: a start pays for the services it uses and for no others (0.1 s of a search's 0.25 s).
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from ovillo.model.quiet import stop_downloads

if TYPE_CHECKING:
    from ovillo.interfaces.services import OpenServices, Services
    from ovillo.model.clock import Clock
    from ovillo.settings import Settings


def open_services(settings: Settings, clock: Clock | None = None) -> Services:
    """Everything an interface needs; ``clock`` stands in for the machine's. Raises StoreUnavailable, IntegrityError, InvalidInput."""
    from ovillo.interfaces.services import Services
    from ovillo.model.clock import system_clock
    from ovillo.model.workers import Workers
    from ovillo.search.analysis import TextAnalyzer
    from ovillo.store.sqlite import open_store

    def tell(failing: Any) -> None:
        from ovillo.sessions.failing_work import FailingWork  # only when something fails

        FailingWork(settings.data_dir).tell(failing)

    gc.enable()
    clock = clock or system_clock
    store = open_store(settings.database, TextAnalyzer(), clock)
    ready = {
        "settings": settings,
        "clock": clock,
        "store": store,
        "opened_at": time.monotonic(),
        "workers": Workers(tell),
    }
    return Services(ready, _BUILDERS)


def _ingest(services: Services) -> Any:
    from ovillo.ingest.service import Ingest
    from ovillo.readers import all_readers

    settings, store = services.settings, services.store
    chosen = [reader for reader in all_readers() if not settings.readers or reader.name in settings.readers]
    return Ingest(
        store,
        chosen,
        partial(_redactor, store.secrets.get("redaction"), settings.redaction),
        environment=settings.environment,
        home=settings.home,
        lock_path=settings.data_dir / "ingest.lock",
        clock=services.clock,
        state=services.scan_state,
        exclude=settings.exclude,
    )


def _scan_state(services: Services) -> Any:
    from ovillo.ingest.state import ScanState

    return ScanState(services.store)


def _redactor(secret: bytes, mode: str) -> Any:
    from ovillo.security.redaction import redactor_for

    return redactor_for(secret, mode)


def _redactor_of(services: Services) -> Any:
    """The store's; its rules are compiled when the first text comes."""
    return _redactor(services.store.secrets.get("redaction"), services.settings.redaction)


def _stored_id(services: Services) -> Callable[[str], str]:
    """Which id a client's own has here. Asked only for ids that nothing has: the rules are not loaded before."""
    return lambda given: str(_redactor_of(services).identifier(given))


def _freshness(services: Services) -> Callable[[], Any]:
    def freshness() -> Any:
        from ovillo.sessions.results import Freshness

        return Freshness(services.scan_state.indexed_through(), services.scan_state.pending())

    return freshness


def _catalog(services: Services) -> Any:
    from ovillo.sessions.catalog import Catalog

    return Catalog(services.store, _freshness(services), _stored_id(services), _source_names)


def _source_names() -> list[str]:
    """What a filter may name: every client that could be read, and what is recorded here."""
    from ovillo.model.live import NATIVE
    from ovillo.readers import all_readers

    return [*(reader.name for reader in all_readers()), NATIVE]


def _history(services: Services) -> Any:
    from ovillo.sessions.history import History

    return History(services.store, _freshness(services), _stored_id(services))


def _lineage(services: Services) -> Any:
    from ovillo.sessions.lineage import LineageService

    return LineageService(services.store)


def _statistics(services: Services) -> Any:
    from ovillo.sessions.statistics import StatisticsService

    return StatisticsService(services.store, services.lineage)


def _recovery(services: Services) -> Any:
    from ovillo.sessions.recovery import Recovery

    return Recovery(services.store, services.history)


def _search(services: Services) -> Any:
    from ovillo.search.service import Search

    return Search(
        services.store,
        services.catalog.summaries,
        _freshness(services),
        services.settings,
        services.clock,
        _source_names,
    )


def _calling(services: Services) -> Any:
    from ovillo.readers import all_readers
    from ovillo.sessions.calling import CallingSession

    return CallingSession(services.store, services.ingest, all_readers, services.settings.environment, services.clock)


def _recorder(services: Services) -> Any:
    from ovillo.sessions.recording import Recorder

    return Recorder(services.store, _redactor_of(services), services.clock, services.summary_worker.grown)


def _summaries(services: Services) -> Any:
    from ovillo.sessions.summaries import SummaryService
    from ovillo.sessions.summarizers import open_summarizer

    return SummaryService(
        services.store, services.settings, services.clock, partial(open_summarizer, services.settings)
    )


def _summary_worker(services: Services) -> Any:
    from ovillo.sessions.summary_worker import SummaryWorker

    return SummaryWorker(services.store, services.summaries, services.settings, services.clock)


def _audit(services: Services) -> Any:
    from ovillo.sessions.audit import Audit

    settings = services.settings
    return Audit(services.store, services.clock, settings.audit_sessions, settings.audit_days)


def _retention(services: Services) -> Any:
    from ovillo.sessions.retention import Retention

    return Retention(services.store, services.settings, services.clock, services.audit)


def _forgetting(services: Services) -> Any:
    from ovillo.sessions.forgetting import Forgetting

    def is_excluded() -> Callable[[Any], bool]:
        clients, rules = services.ingest.excluded_clients(), services.ingest.exclusion()
        return lambda session: session.source in clients or rules.of_session(session) is not None

    settings = services.settings
    return Forgetting(services.store, services.catalog, services.audit, services.clock, settings.data_dir, is_excluded)


def _feed(services: Services) -> Any:
    from ovillo.sessions.feed import ChangeFeed

    return ChangeFeed(services.store)


def _transfer(services: Services) -> Any:
    from ovillo.sessions.transfer.service import Transfer

    return Transfer(services.store, services.history, services.statistics, services.clock)


def _importer(services: Services) -> Any:
    from ovillo.sessions.transfer.importing import ImportService

    return ImportService(services.store, _redactor_of(services), services.clock)


def _snapshots(services: Services) -> Any:
    from ovillo.sessions.snapshots import Snapshots

    return Snapshots(services.store, _redactor_of(services).redact_json, services.clock)


def _maintenance(services: Services) -> Any:
    from ovillo.sessions.maintenance import Maintenance

    return Maintenance(services.store, services.clock)


def _links(services: Services) -> Any:
    from ovillo.sessions.links import LinkService

    return LinkService(services.store, _redactor_of(services).redact_value, services.clock)


def _link_proposals(services: Services) -> Any:
    from ovillo.sessions.link_proposals import LinkProposals

    return LinkProposals(services.store, services.links, services.clock)


def _timesheet(services: Services) -> Any:
    from ovillo.sessions.timesheet import Timesheet

    return Timesheet(services.store, _redactor_of(services).redact_value, services.clock, time.monotonic)


def _contexts(services: Services) -> Any:
    from ovillo.memory.contexts import Contexts

    return Contexts(services.store, _redactor_of(services).redact_value, services.clock)


def _code(services: Services) -> Any:
    from ovillo.code.service import CodeIndex

    redactor = _redactor_of(services)
    return CodeIndex(services.store, services.settings, services.clock, redactor.redact_names, redactor.redact_lines)


def _symbols(services: Services) -> Any:
    from ovillo.search.symbols.service import SymbolSearch
    from ovillo.search.symbols.vectors import SymbolVectors

    return SymbolSearch(services.store, services.code, SymbolVectors(services.store, services.settings))


def _knowledge(services: Services) -> Any:
    from ovillo.memory.knowledge import Knowledge

    redactor = _redactor_of(services)
    return Knowledge(
        services.store,
        services.settings,
        services.clock,
        lambda text: redactor.redact(text)[0],
        redactor.redact_lines,
    )


def _status(services: Services) -> Any:
    from ovillo.sessions.status import StatusService

    def embedded(namespace: Any) -> tuple[int, int] | None:
        from ovillo.search.embedders import model_id

        model = model_id(services.settings)
        return None if model is None else services.store.vectors.share(namespace, model)

    return StatusService(
        services.store,
        services.settings.data_dir,
        services.clock,
        lambda: time.monotonic() - services.opened_at,
        embedded,
        services.workers,
    )


def _keys(services: Services) -> Any:
    from ovillo.security.key_ring import KeyRing

    return KeyRing(services.store.keys, services.store.secrets.get("access-keys"), services.clock)


def _entities(services: Services) -> Any:
    from ovillo.entities.service import Entities
    from ovillo.model.entities import EntityType

    settings = services.settings
    kinds = {
        (EntityType.FUNCTION, EntityType.METHOD): settings.track_functions,
        (EntityType.CLASS,): settings.track_classes,
        (EntityType.IDENTIFIER,): settings.track_variables,
    }
    passed_over = [kind for several, is_kept in kinds.items() if not is_kept for kind in several]
    return Entities(services.store, is_tracking=settings.entity_tracking, passed_over=passed_over)


def _references(services: Services) -> Any:
    from ovillo.references.of_session import SessionReferences

    return SessionReferences(services.store, services.entities, services.code, services.clock)


def _context(services: Services) -> Any:
    from ovillo.references.context.documents import documents_about
    from ovillo.references.context.pending import PendingSessions
    from ovillo.references.context.service import ContextService

    def described(namespace: Any, query: str) -> Any:
        # Made when a query needs it: a context of sessions only does not wait for it.
        return services.symbols.described(namespace, query)

    return ContextService(
        services.references.resolve,
        services.search,
        services.history,
        services.code,
        described,
        partial(documents_about, services.knowledge),
        PendingSessions(services.search, services.links, services.link_proposals),
    )


_BUILDERS: dict[str, Callable[[Services], Any]] = {
    "scan_state": _scan_state,
    "ingest": _ingest,
    "catalog": _catalog,
    "history": _history,
    "lineage": _lineage,
    "statistics": _statistics,
    "recovery": _recovery,
    "search": _search,
    "calling": _calling,
    "keys": _keys,
    "snapshots": _snapshots,
    "transfer": _transfer,
    "importer": _importer,
    "maintenance": _maintenance,
    "recorder": _recorder,
    "feed": _feed,
    "summaries": _summaries,
    "summary_worker": _summary_worker,
    "context": _context,
    "audit": _audit,
    "retention": _retention,
    "forgetting": _forgetting,
    "links": _links,
    "link_proposals": _link_proposals,
    "timesheet": _timesheet,
    "contexts": _contexts,
    "status": _status,
    "code": _code,
    "symbols": _symbols,
    "entities": _entities,
    "references": _references,
    "knowledge": _knowledge,
}


def main() -> None:
    """The ``ovillo`` command."""
    # Importing makes only objects that stay: looking for garbage among them costs a tenth of the start.
    gc.disable()
    stop_downloads()
    from ovillo.interfaces.cli.main import run  # importing this module must stay cheap for MCP

    run(open_services, _run_stdio, _run_http, run_fixture=_run_fixture)


def _run_stdio(open_services: OpenServices, settings: Settings) -> None:
    from ovillo.interfaces.mcp.stdio import run_stdio

    run_stdio(open_services, settings)


def _run_http(open_services: OpenServices, settings: Settings, on_ready: Callable[[str], None]) -> None:
    from ovillo.interfaces.http.server import serve
    from ovillo.interfaces.mcp.http import mount as mcp_mount
    from ovillo.interfaces.rest.mount import open_mount as rest_mount
    from ovillo.interfaces.websocket.mount import open_mount as websocket_mount

    serve(open_services, settings, (mcp_mount, rest_mount, websocket_mount), on_ready)


def _run_fixture(open_services: OpenServices, settings: Settings, on_ready: Callable[[str], None]) -> None:
    from ovillo.interfaces.http.server import serve
    from ovillo.interfaces.mcp.conformance.mount import check_place, open_mount

    check_place(settings)
    serve(open_services, settings, (open_mount,), on_ready, has_services=False)
