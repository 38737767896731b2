"""The text index: what is matched, and where a match stands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from ovillo.model.records import Namespace, PartType, Role, SessionId
from ovillo.store.protocol.sessions import SessionFilter

DocId = int


class Order(StrEnum):
    RANK = "rank"
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
    #: The last term is only a beginning.
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
    #: Of the document itself, not of its session.
    after: int | None = None
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Scored:
    doc: DocId
    #: Higher is better (BM25 over weighted fields, negated from SQLite's sign).
    score: float
    #: Terms in the document, for length normalisation.
    length: int


@dataclass(frozen=True, slots=True)
class Doc:
    """Where a document stands. A document is one part, or a session's title (``part_id`` is then ``None``)."""

    id: DocId
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


@dataclass(frozen=True, slots=True)
class IndexStats:
    documents: int
    average_length: float
    #: Highest document number; a slice of the newest N is ``doc > last - N``.
    last: DocId
    #: Share of trigram entries filled, 0..1.
    trigrams_ready: float


class TextStore(Protocol):
    def stats(self, namespace: Namespace) -> IndexStats: ...

    def document_frequency(self, namespace: Namespace, terms: Iterable[str]) -> dict[str, int]:
        """How many documents hold each term; 0 for those that no document of this namespace holds. Others' documents may
        be counted: the figure weighs terms and is not for showing."""
        ...

    def terms_with_prefix(self, namespace: Namespace, prefix: str, limit: int) -> list[tuple[str, int]]: ...

    def surfaces_containing(self, namespace: Namespace, fragment: str, limit: int) -> list[tuple[str, str]]:
        """``(surface, term)`` whose surface holds ``fragment`` (already folded), through the trigram index and,
        for what is not in it yet, a bounded scan."""
        ...

    def surface_terms(self, namespace: Namespace, surfaces: Iterable[str]) -> dict[str, tuple[str, ...]]:
        """The index terms that each word, written so (folded), became in some text; nothing for unknown words."""
        ...

    def match(
        self,
        namespace: Namespace,
        expression: Match,
        where: DocFilter,
        limit: int,
        *,
        order: Order = Order.RANK,
        newest: int | None = None,
    ) -> list[Scored]:
        """Documents that match. ``newest`` looks only at that many of the newest documents.
        With ``Order.NEWEST`` scores are 0."""
        ...

    def allowed(self, namespace: Namespace, ids: Sequence[DocId], where: DocFilter) -> set[DocId]:
        """Those of ``ids`` that pass the filter."""
        ...

    def docs(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Doc]:
        """Those that exist, in the order asked for."""
        ...

    def doc_texts(self, namespace: Namespace, ids: Sequence[DocId]) -> dict[DocId, str]:
        """The searchable text of each (``ovillo.model.text.searchable_text`` of its part, or the title)."""
        ...

    def neighbours(
        self, namespace: Namespace, ids: Sequence[DocId], distance: int
    ) -> dict[DocId, list[tuple[DocId, int]]]:
        """For each document, those of the messages up to ``distance`` messages away in its session, with that distance.
        Only text that people and models said."""
        ...

    def scan_texts(
        self, namespace: Namespace, where: DocFilter, *, before: DocId | None = None
    ) -> Iterator[tuple[DocId, str]]:
        """Every matching document newest first; the caller stops at its deadline."""
        ...

    def advance_trigrams(self) -> int:
        """Fill one batch of the substring index; how many words still wait."""
        ...

    def is_current(self) -> bool:
        """Whether the text index was made by the analyzer in use."""
        ...

    def rebuild(self) -> None: ...
