"""A search over a few sessions said in a test, on a real store."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ovillo.entities.service import Entities
from ovillo.model.records import DEFAULT_NAMESPACE, SessionDelta
from ovillo.search.analysis import TextAnalyzer
from ovillo.search.results import SearchResult
from ovillo.search.service import Search, SearchRequest
from ovillo.security.repositories import Repositories
from ovillo.sessions.catalog import Catalog
from ovillo.sessions.projects import Projects
from ovillo.sessions.results import Freshness
from ovillo.settings import Settings
from ovillo.store.engine import open_store
from ovillo.store.protocol import Store
from tests.builders import NOON


class Corner:
    def __init__(self, store: Store, settings: Settings) -> None:
        self.store = store
        self.settings = settings
        self.service = Search(
            store,
            Catalog(store.sessions, lambda: Freshness(NOON)).summaries,
            Entities(store).sessions_of,
            lambda: Freshness(NOON),
            settings,
            lambda: NOON + 86_400_000,
            Projects(store, Repositories(settings.home)),
        )

    def ask(self, query: str, **fields: object) -> SearchResult:
        return self.service.search(DEFAULT_NAMESPACE, SearchRequest(query, **fields))  # type: ignore[arg-type]

    def sessions(self, query: str, **fields: object) -> list[str]:
        return [str(found.summary.session.id) for found in self.ask(query, **fields).sessions]

    def messages(self, query: str, **fields: object) -> list[str | None]:
        """Message ids of the hits, best first."""
        hits = [hit for found in self.ask(query, **fields).sessions for hit in found.hits]
        return [hit.message_id for hit in sorted(hits, key=lambda hit: -hit.score)]


@contextmanager
def corner(folder: Path, *deltas: SessionDelta, **settings: object) -> Iterator[Corner]:
    given: dict[str, object] = {"embedder": "none", **settings}
    store = open_store(folder / "ovillo.db", TextAnalyzer(), lambda: NOON)
    try:
        store.ingest.apply(DEFAULT_NAMESPACE, deltas)
        yield Corner(store, Settings(folder, folder, **given))  # type: ignore[arg-type]
    finally:
        store.close()
