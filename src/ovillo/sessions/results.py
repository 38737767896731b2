"""What the session services give back. Plain data: interfaces format it.

Owns the shapes only; ids are the source's own, times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Any

from ovillo.model.dataclass import dataclass
from ovillo.model.entities import SessionEntities
from ovillo.model.live import Summary
from ovillo.model.records import Message, Session, SessionId, Usage
from ovillo.model.sessions import SessionCounts, SessionRow, Totals
from ovillo.sessions.memory_results import MemoryView

if TYPE_CHECKING:
    from ovillo.sessions.languages import Language


@dataclass(frozen=True, slots=True)
class Freshness:
    """How current an answer is. ``indexed_through`` is the time of the newest scan that finished."""

    indexed_through: int | None
    #: Places with something not yet indexed, for people.
    pending: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """A session in a list. ``title`` is never empty: it falls back to the first prompt, then the id."""

    session: Session
    title: str
    summary: str
    counts: SessionCounts
    #: All that took part, the main one first, where a list was asked for.
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionPage:
    sessions: tuple[SessionSummary, ...]
    total: int
    next_cursor: str | None
    freshness: Freshness
    #: What to say about filters that no session can pass.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionView:
    """A session as it is shown whole."""

    row: SessionRow
    title: str
    memory: MemoryView
    #: The client's own figures.
    metrics: Mapping[str, Any]
    #: Includes the sessions it is linked to, and what it speaks of and changed.
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SessionOverview:
    """What a session was about."""

    summary: SessionSummary
    text: str
    entities: SessionEntities


@dataclass(frozen=True, slots=True)
class MessagePage:
    messages: tuple[Message, ...]
    #: Counts of the whole session.
    total: int
    next_cursor: str | None
    #: The newest one of the session.
    summary: Summary | None

    def summarized_by(self, message: Message) -> str | None:
        """The summary that stands for a message; ``None`` while none does."""
        return self.summary.id if self.summary and message.seq <= self.summary.through_seq else None


@dataclass(frozen=True, slots=True)
class SyncStart:
    """The message to start behind, and a cursor from which on changes are not among the messages."""

    session_id: SessionId
    last_message_id: str | None
    cursor: int


@dataclass(frozen=True, slots=True)
class HistoryPage:
    """A stretch of a session in order, a fork's inherited messages included and marked."""

    summary: SessionSummary
    messages: tuple[Message, ...]
    #: Position of the first message in the whole session (0-based) and how many there are in all.
    offset: int
    total: int
    next_cursor: str | None
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class LineageNode:
    summary: SessionSummary
    #: ``parent`` (sub-agent of), ``fork`` (forked from) or ``continuation``.
    relation: str
    depth: int
    children: tuple[LineageNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Lineage:
    summary: SessionSummary
    #: From the direct parent to the root.
    parents: tuple[SessionSummary, ...]
    #: Direct children with theirs below them; ``descendants()`` flattens.
    children: tuple[LineageNode, ...]
    siblings: tuple[SessionSummary, ...]
    #: Where this session was forked, when it was: origin, last shared message.
    forked_from: SessionSummary | None = None
    fork_point: str | None = None
    #: The tool call that started this sub-agent: (message id, call id).
    spawned_by: tuple[str, str] | None = None
    #: Broken links, cycles.
    warnings: tuple[str, ...] = ()

    def descendants(self) -> tuple[LineageNode, ...]:
        def walk(nodes: tuple[LineageNode, ...]) -> list[LineageNode]:
            return [x for node in nodes for x in (node, *walk(node.children))]

        return tuple(walk(self.children))


@dataclass(frozen=True, slots=True)
class Descendants:
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)
    #: ``None`` where none of them has a known cost.
    cost: float | None = 0.0
    messages: int = 0


@dataclass(frozen=True, slots=True)
class Statistics:
    """A session's own figures; what it inherited and what its sub-agents did stand apart."""

    summary: SessionSummary
    #: Updated minus created, milliseconds.
    duration_ms: int
    active_ms: int
    own: Totals
    inherited: Totals
    additions: int
    deletions: int
    files: int
    descendants: Descendants
    cost_by_model: Mapping[str, float] = field(default_factory=dict)
    #: All that took part, the main one first.
    agents: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RecoveredItem:
    """One piece of a recovered thread. ``ref`` is the id that fetches it whole (message or part)."""

    #: One of ``sessions.recovery.written.KINDS``.
    kind: str
    text: str
    ref: str | None = None
    at: int | None = None
    role: str | None = None


@dataclass(frozen=True, slots=True)
class RecoveredContext:
    summary: SessionSummary
    items: tuple[RecoveredItem, ...]
    tokens: int
    max_tokens: int
    #: Messages not quoted verbatim.
    left_out: int
    freshness: Freshness
    #: Of the session: its headings are in it.
    language: Language


@dataclass(frozen=True, slots=True)
class CallerSession:
    """The session that is calling, the rule that found it and how sure it is (0..1)."""

    session_id: SessionId | None
    rule: str
    confidence: float
    reason: str = ""
