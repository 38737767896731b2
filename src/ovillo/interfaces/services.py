"""The services that interfaces work with, built by ``ovillo.app`` when they are first asked for.

Owns the bundle only; every interface gets it handed in and reaches nothing below it by itself. A service that nobody
asks for is not even imported: a search on the command line pays for no reader, a scan for no search.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ovillo.code.service import CodeIndex
    from ovillo.entities.service import Entities
    from ovillo.ingest.service import Ingest
    from ovillo.ingest.state import ScanState
    from ovillo.memory.contexts import Contexts
    from ovillo.memory.knowledge import Knowledge
    from ovillo.model.clock import Clock
    from ovillo.model.workers import Workers
    from ovillo.references.context.service import ContextService
    from ovillo.references.of_session import SessionReferences
    from ovillo.search.service import Search
    from ovillo.search.symbols.service import SymbolSearch
    from ovillo.security.key_ring import KeyRing
    from ovillo.sessions.audit import Audit
    from ovillo.sessions.calling import CallingSession
    from ovillo.sessions.catalog import Catalog
    from ovillo.sessions.feed import ChangeFeed
    from ovillo.sessions.forgetting import Forgetting
    from ovillo.sessions.history import History
    from ovillo.sessions.lineage import LineageService
    from ovillo.sessions.link_proposals import LinkProposals
    from ovillo.sessions.links import LinkService
    from ovillo.sessions.maintenance import Maintenance
    from ovillo.sessions.recording import Recorder
    from ovillo.sessions.recovery import Recovery
    from ovillo.sessions.retention import Retention
    from ovillo.sessions.snapshots import Snapshots
    from ovillo.sessions.statistics import StatisticsService
    from ovillo.sessions.status import StatusService
    from ovillo.sessions.summaries import SummaryService
    from ovillo.sessions.summary_worker import SummaryWorker
    from ovillo.sessions.timesheet import Timesheet
    from ovillo.sessions.transfer.importing import ImportService
    from ovillo.sessions.transfer.service import Transfer
    from ovillo.settings import Settings
    from ovillo.store.protocol import Store


class Services:
    """Thread-safe; each service is made once."""

    settings: Settings
    clock: Clock
    store: Store
    workers: Workers
    scan_state: ScanState
    ingest: Ingest
    catalog: Catalog
    history: History
    lineage: LineageService
    statistics: StatisticsService
    recovery: Recovery
    search: Search
    calling: CallingSession
    keys: KeyRing
    audit: Audit
    snapshots: Snapshots
    transfer: Transfer
    importer: ImportService
    maintenance: Maintenance
    recorder: Recorder
    feed: ChangeFeed
    summaries: SummaryService
    summary_worker: SummaryWorker
    context: ContextService
    retention: Retention
    forgetting: Forgetting
    links: LinkService
    link_proposals: LinkProposals
    timesheet: Timesheet
    contexts: Contexts
    status: StatusService
    code: CodeIndex
    symbols: SymbolSearch
    entities: Entities
    references: SessionReferences
    knowledge: Knowledge
    #: When the services were opened, by the monotonic clock (seconds).
    opened_at: float

    def __init__(self, ready: Mapping[str, Any], builders: Mapping[str, Callable[[Services], Any]]) -> None:
        self.__dict__.update(ready)
        self._builders = builders
        # Building one service asks for others.
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        """Called for what is not built yet only."""
        if name.startswith("_") or name not in self._builders:
            raise AttributeError(f"no service {name!r}")
        with self._lock:
            if name not in self.__dict__:
                self.__dict__[name] = self._builders[name](self)
            return self.__dict__[name]

    def close(self) -> None:
        """Ends background work and closes the store; safe to call twice."""
        if "summary_worker" in self.__dict__:
            self.summary_worker.close()
        if "audit" in self.__dict__:
            self.audit.close()
        if "feed" in self.__dict__:
            self.feed.close()
        self.store.close()


#: Builds the services from settings; handed to the command line by ``ovillo.app``.
OpenServices = Callable[["Settings"], Services]
