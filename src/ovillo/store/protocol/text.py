"""The text index: matching, and positions of matches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from enum import StrEnum
from typing import NamedTuple, Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace, PartType, Role, SessionId
from ovillo.model.sessions import SessionFilter

#: Names a document of one store. It implies no order: newer documents have the larger ``recency``.
DocId = int


class Order(StrEnum):
    #: Over the limit, prefer documents where the terms occur most often for their length.
    DENSEST = "densest"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class Term:
    text: str


@dataclass(frozen=True, slots=True)
class Prefix:
    text: str


@dataclass(frozen=True, slots=True)
class Phrase:
    terms: tuple[str, ...]
    #: The last term is only a prefix.
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class AllOf:
    items: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    items: tuple[Match, ...]


@dataclass(frozen=True, slots=True)
class Except:
    """``keep`` without ``drop``."""

    keep: Match
    drop: Match


Match = Term | Prefix | Phrase | AllOf | AnyOf | Except


@dataclass(frozen=True, slots=True)
class DocFilter:
    """Limits documents; the session part limits their sessions. Inherited copies are never documents."""

    session: SessionFilter = field(default_factory=SessionFilter)
    roles: tuple[Role, ...] = ()
    part_types: tuple[PartType, ...] = ()
    tool: str | None = None
    #: A path or its tail, touched by the part (tool input, patch, file).
    file: str | None = None
    is_error: bool | None = None
    has_patch: bool | None = None
    #: Bounds on the time of the document itself, not of its session.
    after: int | None = None
    before: int | None = None


class Matched(NamedTuple):
    """A matching document. Holds counts, not an engine's scores: weighing them is the ranking's job. (A tuple: one
    search creates thousands.)"""

    doc: DocId
    #: Larger is newer; may have gaps.
    recency: int
    #: How densely the query occurs, divided by ``store.documents.length_norm``: all occurrences for a single ``Term``
    #: where the densest were asked for, one for everything else. Weighted by speaker (``store.documents.WEIGHTS``).
    density: float


class Doc(NamedTuple):
    """Position of a document. A document is one part, or a session's title (``part_id`` is then ``None``,
    ``message_seq`` -1). It keeps its id and its recency when its text changes. (A tuple, like ``Matched``.)"""

    id: DocId
    #: Larger is newer; may have gaps.
    recency: int
    session_id: SessionId
    message_id: str | None
    part_id: str | None
    message_seq: int
    part_seq: int
    role: Role
    type: PartType | None
    synthetic: bool
    tool_name: str | None
    created_at: int | None
    length: int


class Outline(NamedTuple):
    """What ranking needs of a document: part of its ``Doc``, which is only needed for what is displayed. A search ranks
    hundreds of documents, and reading each one's message as well took as long as reading the documents."""

    id: DocId
    recency: int
    session_id: SessionId
    #: ``None`` for a session's title.
    type: PartType | None
    synthetic: bool
    tool_name: str | None
    #: In terms; a title's is zero, since it is shorter than anything it is compared with.
    length: int


@dataclass(frozen=True, slots=True)
class IndexStats:
    documents: int
    average_length: float


class TextStore(Protocol):
    def stats(self, namespace: Namespace) -> IndexStats: ...

    def document_frequency(self, namespace: Namespace, terms: Iterable[str]) -> dict[str, int]:
        """How many documents hold each term; 0 for terms that no document of this namespace holds. May include other
        namespaces' documents: use it to weigh terms, not for display."""
        ...

    def terms_with_prefix(self, namespace: Namespace, prefix: str, limit: int) -> list[tuple[str, int]]:
        """Terms in order, with how many documents hold each. May include words of other namespaces: pass them through
        ``document_frequency`` before displaying any."""
        ...

    def surfaces_containing(self, namespace: Namespace, fragment: str, limit: int) -> list[tuple[str, str]]:
        """``(surface, term)`` pairs whose surface contains ``fragment`` (already folded); includes those that
        ``catch_up`` has not reached yet, only slower."""
        ...

    def surface_terms(self, namespace: Namespace, surfaces: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The index terms that each word, as written (folded), has become in some text; unknown words are left out."""
        ...

    def match(
        self,
        namespace: Namespace,
        expression: Match,
        where: DocFilter,
        limit: int,
        *,
        order: Order = Order.DENSEST,
        newest: int | None = None,
    ) -> list[Matched]:
        """Documents that match. ``newest`` restricts the search to about that many of the newest documents."""
        ...

    def allowed(self, namespace: Namespace, ids: Sequence[DocId], where: DocFilter) -> set[DocId]:
        """Those of ``ids`` that pass the filter."""
        ...

    def outlines(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Outline]:
        """Of those that exist, in the order asked for."""
        ...

    def docs(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Doc]:
        """Those that exist, in the order asked for."""
        ...

    def doc_texts(self, namespace: Namespace, ids: Sequence[DocId]) -> dict[DocId, str]:
        """Searchable text of each (``ovillo.model.text.searchable_text`` of its part, or the title)."""
        ...

    def neighbours(
        self, namespace: Namespace, ids: Sequence[DocId], distance: int
    ) -> dict[DocId, list[tuple[DocId, int]]]:
        """For each document, those of messages up to ``distance`` messages away in its session, with that distance.
        Only text of people and models."""
        ...

    def said_around(self, namespace: Namespace, session_id: SessionId, seq: int, before: int, after: int) -> list[Doc]:
        """What people and models said around message ``seq`` of the session, in order: at most ``before`` documents of
        earlier messages and ``after`` from it on. Texts, reasoning, compactions and todos, including those the client
        inserted; no tool output and no patches."""
        ...

    def scan_texts(self, namespace: Namespace, where: DocFilter) -> Iterator[tuple[DocId, str]]:
        """All matching documents, newest first; the caller stops at its deadline."""
        ...

    def catch_up(self) -> int:
        """Do one batch of the indexing work that writers postponed; returns how many words still wait."""
        ...

    def is_current(self) -> bool:
        """Whether the text index was built by the current analyzer."""
        ...

    def rebuild(self) -> None:
        """Rebuild the index from the texts, after the analyzer changed: in steps, newest texts first, so that others
        can write meanwhile. Resumes after an interruption. Vectors stay."""
        ...
