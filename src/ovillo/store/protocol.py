"""What every store does, whatever holds the bytes: the contract that ``tests/store/contract`` runs on each.

Owns the shapes between services and stores. A namespace comes first in every call; no SQL leaves
``store/``. Reads are snapshots and take no write lock; writes return after COMMIT.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol

from ovillo.model.records import (
    Message,
    Namespace,
    Part,
    PartType,
    Role,
    Session,
    SessionDelta,
    SessionId,
    SessionKind,
    SkippedRecord,
    Usage,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DocId = int


class Analyzer(Protocol):
    """Turns text into index terms; injected, so that the store knows nothing of languages (see ``search/analysis``)."""

    #: Stored with the index; another version means the index is rebuilt from the parts.
    version: str

    def index_terms(self, text: str) -> tuple[str, int]:
        """Terms of ``text`` joined by single spaces, and how many there are. Terms hold no spaces and no NUL.

        A position may carry several terms (an identifier whole and split); they simply follow each other.
        """
        ...

    def take_new_surfaces(self) -> list[tuple[str, str]]:
        """``(surface, term)`` pairs first met since the last call: the word as written (folded, lower case) and its
        index term. They feed the trigram index behind substring search. May repeat pairs of earlier runs."""
        ...


class Preparation(Protocol):
    """The part of writing that needs no database: analysis and encoding. Picklable, so that it can be done in
    another process; what it returns is handed to ``Store.submit``."""

    def prepare(self, deltas: Sequence[SessionDelta]) -> Any: ...


# --- what is asked of sessions -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SessionFilter:
    """All set fields must hold. Text fields match without case; ``project`` is an id, a directory or its tail."""

    name: str | None = None
    project: str | None = None
    source: str | None = None
    agent: str | None = None
    model: str | None = None
    branch: str | None = None
    type: str | None = None
    kind: SessionKind | None = None
    parent_id: SessionId | None = None
    #: Sessions with something between these (milliseconds, first included, last excluded).
    after: int | None = None
    before: int | None = None
    session_ids: tuple[SessionId, ...] = ()
    include_deleted_at_source: bool = True


@dataclass(frozen=True, slots=True)
class SessionCounts:
    messages: int = 0
    parts: int = 0
    #: Human prompts, own (not inherited).
    prompts: int = 0


@dataclass(frozen=True, slots=True)
class SessionRow:
    session: Session
    counts: SessionCounts
    #: First human prompt, cut; what a title falls back to.
    first_prompt: str | None = None


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a session's own messages, or over its inherited ones."""

    messages: int = 0
    parts: int = 0
    prompts: int = 0
    usage: Usage = field(default_factory=Usage)
    cost: float = 0.0
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    parts_by_type: Mapping[str, int] = field(default_factory=dict)
    #: tool name -> (calls, failures)
    tools: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    errors: int = 0
    additions: int = 0
    deletions: int = 0
    files: tuple[str, ...] = ()
    first_at: int | None = None
    last_at: int | None = None
    #: Sum of the pauses between neighbouring records, each counted up to ``idle_cut_ms``.
    active_ms: int = 0


# --- what is asked of text -----------------------------------------------------------------------------


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


# --- what is asked of sources --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlaceState:
    """What is known of a place after its scans."""

    reader: str
    path: str
    layout: str
    cursor: Mapping[str, Any]
    sessions: int
    messages: int
    parts: int
    skipped: tuple[SkippedRecord, ...]
    unknown_types: Mapping[str, int]
    redactions: Mapping[str, int]
    last_scan_at: int | None
    #: Reason the whole place could not be read at the last scan.
    error: str | None


@dataclass(frozen=True, slots=True)
class Applied:
    """What one ``apply`` changed."""

    sessions: int = 0
    messages: int = 0
    parts: int = 0
    #: Sessions with new or changed records.
    touched: frozenset[SessionId] = frozenset()
    #: Messages of these sessions exist under another session too (a fork's copies): lineage is to be resolved.
    overlapping: frozenset[tuple[SessionId, SessionId]] = frozenset()

    def __add__(self, other: Applied) -> Applied:
        return Applied(
            self.sessions + other.sessions,
            self.messages + other.messages,
            self.parts + other.parts,
            self.touched | other.touched,
            self.overlapping | other.overlapping,
        )


@dataclass(frozen=True, slots=True)
class Change:
    """One entry of the change log: the truth for sync."""

    seq: int
    kind: str
    ref: str
    at: int


class Store(Protocol):
    """One namespace-aware store. Thread-safe: readers on their own connections, one writer."""

    def close(self) -> None: ...

    # sessions and messages

    def list_sessions(
        self, namespace: Namespace, where: SessionFilter, limit: int, after: tuple[int, str] | None = None
    ) -> list[SessionRow]:
        """Most recently updated first. ``after`` is ``(updated_at, id)`` of the last row already seen."""
        ...

    def get_sessions(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> dict[SessionId, SessionRow]:
        """Those that exist."""
        ...

    def message_position(self, namespace: Namespace, session_id: SessionId, seq: int) -> int:
        """How many messages of the session come before ``seq``."""
        ...

    def first_seq_since(self, namespace: Namespace, session_id: SessionId, at: int) -> int | None:
        """``seq`` of the session's first message made at ``at`` or later."""
        ...

    def places_of_session(self, namespace: Namespace, session_id: SessionId) -> list[tuple[str, str]]:
        """``(reader, path)`` of the places that hold the session."""
        ...

    def last_scan_at(self, namespace: Namespace) -> int | None: ...

    def count_sessions(self, namespace: Namespace, where: SessionFilter) -> int: ...

    def get_session(self, namespace: Namespace, session_id: SessionId) -> SessionRow | None: ...

    def find_session_ids(self, namespace: Namespace, prefix: str, limit: int = 10) -> list[SessionId]:
        """Ids that are or start with ``prefix``; exact match first."""
        ...

    def session_of_message(self, namespace: Namespace, message_id: str) -> SessionId | None:
        """The session that first said the message (not a fork's copy)."""
        ...

    def session_of_call(self, namespace: Namespace, call_id: str) -> SessionId | None:
        """The session whose tool call has this id."""
        ...

    def messages(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        after_seq: int | None = None,
        before_seq: int | None = None,
        limit: int = 100,
        skip: int = 0,
        newest_first: bool = False,
    ) -> list[Message]:
        """Messages with their parts in ``seq`` order (reversed with ``newest_first``)."""
        ...

    def get_message(self, namespace: Namespace, session_id: SessionId, message_id: str) -> Message | None: ...

    def get_part(self, namespace: Namespace, session_id: SessionId, part_id: str) -> Part | None: ...

    def totals(
        self, namespace: Namespace, session_id: SessionId, *, inherited: bool = False, idle_cut_ms: int = 300_000
    ) -> Totals: ...

    def children(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> list[SessionRow]:
        """Sessions whose parent or fork origin is one of these, by creation."""
        ...

    def touched_files(self, namespace: Namespace, session_id: SessionId) -> list[tuple[str, int, int | None]]:
        """``(path, times touched, last touch)``, most recent first."""
        ...

    # writing (ingest and recording)

    def apply(
        self,
        namespace: Namespace,
        deltas: Sequence[SessionDelta],
        *,
        place: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
    ) -> Applied:
        """Merge in one transaction; ``place`` is ``(reader, path)`` and its cursor moves in the same transaction.

        ``precedence`` tells which of two places holding one session is newer: a lower one only fills gaps."""
        ...

    def preparation(self) -> Preparation:
        """What prepares deltas for this store's ``submit``."""
        ...

    def submit(
        self,
        namespace: Namespace,
        prepared: Any,
        *,
        place: tuple[str, str] | None = None,
        precedence: int = 0,
        cursor: Mapping[str, Any] | None = None,
        skipped: Sequence[SkippedRecord] = (),
        redactions: Mapping[str, int] | None = None,
    ) -> Future[Applied]:
        """``apply`` of prepared deltas without waiting; done after COMMIT. What is handed in later is merged later."""
        ...

    def overlaps(self, namespace: Namespace) -> list[tuple[SessionId, SessionId]]:
        """Pairs of sessions holding messages of equal id whose lineage is not decided yet."""
        ...

    def clear_overlaps(self, namespace: Namespace, pairs: Sequence[tuple[SessionId, SessionId]]) -> None: ...

    def message_times(self, namespace: Namespace, session_id: SessionId) -> list[tuple[str, int | None]]:
        """``(message id, created)`` in order."""
        ...

    def set_lineage(
        self,
        namespace: Namespace,
        session_id: SessionId,
        *,
        forked_from: SessionId,
        fork_point: str | None,
        inherited: Sequence[str],
    ) -> None:
        """Mark a session as a fork and its copied messages as inherited (they leave the search index)."""
        ...

    def mark_deleted_at_source(self, namespace: Namespace, session_ids: Sequence[SessionId]) -> None: ...

    # sources

    def places(self, namespace: Namespace) -> list[PlaceState]: ...

    def cursor(self, namespace: Namespace, reader: str, path: str) -> dict[str, Any]: ...

    def place_finished(
        self, namespace: Namespace, reader: str, path: str, layout: str, error: str | None, at: int
    ) -> None: ...

    def sessions_of_place(self, namespace: Namespace, reader: str, path: str) -> set[SessionId]: ...

    def forget_skipped(self, namespace: Namespace, reader: str, path: str, files: Sequence[str]) -> None:
        """Damage listed of these files is void: they are read anew."""
        ...

    def changes(self, namespace: Namespace, since: int, limit: int) -> list[Change]: ...

    # text index

    def index_stats(self, namespace: Namespace) -> IndexStats: ...

    def document_frequency(self, namespace: Namespace, terms: Iterable[str]) -> dict[str, int]:
        """How many documents hold each term; 0 for unknown ones."""
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

    def index_is_current(self) -> bool:
        """Whether the text index was made by the analyzer in use."""
        ...

    def rebuild_index(self) -> None: ...

    def secret(self, name: str) -> bytes:
        """32 random bytes kept under ``name``, made at first use."""
        ...

    def quick_check(self) -> list[str]:
        """What is wrong with the store's file; empty when it is sound."""
        ...

    # vectors

    def not_embedded(self, namespace: Namespace, model: str, limit: int) -> list[tuple[DocId, str]]:
        """Newest documents said by people and models (never tool output) that have no vector of ``model`` yet."""
        ...

    def put_vectors(self, model: str, rows: Sequence[tuple[DocId, bytes, bytes]]) -> None:
        """``(document, sign bits, values)``; several vectors of one document stand one after the other in both."""
        ...

    def embedding_share(self, namespace: Namespace, model: str) -> tuple[int, int]:
        """``(embedded, eligible)`` documents."""
        ...

    def vector_bits(
        self, namespace: Namespace, model: str, after: DocId = 0, *, size: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """Document numbers and their sign bits (packed, one row a vector), above ``after``. With ``size`` (bytes of one
        vector's bits) a document of several vectors is repeated; without it, each has one."""
        ...

    def vectors(
        self, model: str, ids: Sequence[DocId], *, size: int | None = None
    ) -> tuple[list[DocId], NDArray[np.int8]]:
        """Documents and the bytes of their values, one row a vector; ``size`` as above (bytes of one vector's values)."""
        ...

    def model_state(self, model: str) -> dict[str, Any]:
        """Whatever the embedder keeps with its vectors (the mean that was subtracted), JSON-able."""
        ...

    def set_model_state(self, model: str, state: Mapping[str, Any]) -> None: ...
