"""What a search gives back. Plain data: interfaces format it."""

from __future__ import annotations

from ovillo.model.dataclass import dataclass
from ovillo.model.records import SessionId
from ovillo.sessions.results import Freshness, SessionSummary


@dataclass(frozen=True, slots=True)
class Hit:
    """One place found. ``highlights`` are ``(start, end)`` character ranges inside ``snippet``."""

    message_id: str | None
    part_id: str | None
    #: Position of the message in its session (its ``seq``).
    position: int
    role: str
    part_type: str
    tool: str | None
    created_at: int | None
    snippet: str
    highlights: tuple[tuple[int, int], ...]
    score: float
    #: How it was found: words, phrase, prefix, substring, regex, meaning, neighbour, title.
    found_by: str


@dataclass(frozen=True, slots=True)
class SessionHits:
    summary: SessionSummary
    score: float
    hits: tuple[Hit, ...]
    #: More places in this session than ``hits`` shows (at least).
    more: int = 0
    #: The project it belongs to, where that is not the question's: empty for a session that belongs to none.
    elsewhere: str | None = None


@dataclass(frozen=True, slots=True)
class SearchResult:
    sessions: tuple[SessionHits, ...]
    next_cursor: str | None
    #: For people: which modes ran and how scores were made, e.g. ``words (all); bm25 + meaning 0.35``.
    scored: str
    #: Words that matched nothing, offered replacements, and the like.
    notes: tuple[str, ...]
    #: Set when the time budget cut the query: what was not looked at.
    cut: str | None
    #: Share of eligible texts that have vectors, 0..1; ``None`` without an embedder.
    embedded: float | None
    elapsed_ms: float
    freshness: Freshness
    #: Of all sessions found, on this page or not, the best first.
    session_ids: tuple[SessionId, ...] = ()
    #: Places found in all of them.
    places: int = 0
