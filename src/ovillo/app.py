"""The composition root: settings in, services out.

Owns what is built from what, once per process. Everything below gets its collaborators handed in.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ovillo.interfaces.services import OpenServices, Services
    from ovillo.settings import Settings


def open_services(settings: Settings) -> Services:
    """Everything an interface needs. Raises StoreUnavailable, IntegrityError, InvalidInput."""
    # Start-up cost: 0.1 s that a server answering its first tools/list, or ``ovillo --version``, need not wait for.
    from ovillo.ingest.service import Ingest
    from ovillo.interfaces.services import Services
    from ovillo.model.clock import system_clock
    from ovillo.readers import all_readers
    from ovillo.search.analysis import TextAnalyzer
    from ovillo.search.service import Search
    from ovillo.security.redaction import redactor_for
    from ovillo.sessions.calling import CallingSession
    from ovillo.sessions.catalog import Catalog
    from ovillo.sessions.history import History
    from ovillo.sessions.lineage import LineageService
    from ovillo.sessions.recovery import Recovery
    from ovillo.sessions.statistics import StatisticsService
    from ovillo.sessions.views import Freshness
    from ovillo.store.sqlite import open_store

    gc.enable()
    store = open_store(settings.database, TextAnalyzer(), system_clock)
    readers = [reader for reader in all_readers() if not settings.readers or reader.name in settings.readers]
    ingest = Ingest(
        store,
        readers,
        partial(redactor_for, store.secret("redaction"), settings.redaction),
        environment=settings.environment,
        home=settings.home,
        lock_path=settings.data_dir / "ingest.lock",
        clock=system_clock,
    )

    def freshness() -> Freshness:
        return Freshness(ingest.indexed_through(), ingest.pending())

    catalog = Catalog(store, freshness)
    history = History(store, freshness)
    lineage = LineageService(store)
    return Services(
        settings=settings,
        clock=system_clock,
        store=store,
        ingest=ingest,
        catalog=catalog,
        history=history,
        lineage=lineage,
        statistics=StatisticsService(store, lineage),
        recovery=Recovery(store, history),
        search=Search(store, catalog.summaries, freshness, settings, system_clock),
        calling=CallingSession(store, ingest, settings.environment, system_clock),
        close=store.close,
    )


def main() -> None:
    """The ``ovillo`` command."""
    # Importing makes only objects that stay: looking for garbage among them costs a tenth of the start.
    gc.disable()
    from ovillo.interfaces.cli.main import run  # start-up cost: importing this module must stay cheap for MCP

    run(open_services, _run_stdio, _run_http)


def _run_stdio(open_services: OpenServices, settings: Settings) -> None:
    from ovillo.interfaces.mcp.stdio import run_stdio  # start-up cost: other commands serve nothing

    run_stdio(open_services, settings)


def _run_http(open_services: OpenServices, settings: Settings, on_ready: Callable[[str], None]) -> None:
    from ovillo.interfaces.mcp.http import run_http  # start-up cost: other commands serve nothing

    run_http(open_services, settings, on_ready)
