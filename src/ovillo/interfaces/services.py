"""The services that interfaces work with, built once by ``ovillo.app``.

Owns the bundle only; every interface gets it handed in and reaches nothing below it by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ovillo.ingest.service import Ingest
from ovillo.model.clock import Clock
from ovillo.search.service import Search
from ovillo.sessions.calling import CallingSession
from ovillo.sessions.catalog import Catalog
from ovillo.sessions.history import History
from ovillo.sessions.lineage import LineageService
from ovillo.sessions.recovery import Recovery
from ovillo.sessions.statistics import StatisticsService
from ovillo.settings import Settings
from ovillo.store.protocol import Store


@dataclass(frozen=True, slots=True)
class Services:
    settings: Settings
    clock: Clock
    store: Store
    ingest: Ingest
    catalog: Catalog
    history: History
    lineage: LineageService
    statistics: StatisticsService
    recovery: Recovery
    search: Search
    calling: CallingSession
    #: Ends background work and closes the store; safe to call twice.
    close: Callable[[], None]


#: Builds the services from settings; handed to the command line by ``ovillo.app``.
OpenServices = Callable[[Settings], Services]
