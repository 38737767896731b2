"""Searching sessions. (Being written.)"""

from __future__ import annotations

from dataclasses import dataclass

from ovillo.model.records import Namespace
from ovillo.search.results import SearchResult


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and its qualifiers given as parameters; both kinds may also stand in ``query`` (``agent:build``)."""

    query: str
    agent: str | None = None
    project: str | None = None
    source: str | None = None
    after: int | None = None
    before: int | None = None
    session: str | None = None
    limit: int = 20
    cursor: str | None = None
    #: Hits shown per session.
    hits_per_session: int = 3


class Search:
    def search(self, namespace: Namespace, request: SearchRequest) -> SearchResult:
        """Sessions by relevance, each with its best places. Raises InvalidInput (bad regex, bad cursor, empty query)."""
        raise NotImplementedError
