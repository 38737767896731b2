"""What ``get_context`` gives back. Plain data: interfaces format it. Owns the shapes only."""

from __future__ import annotations

from ovillo.model.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where a piece of the content stands. ``kind`` is ``code``, ``message``, ``session``, ``document`` or ``memory``."""

    kind: str
    #: Id that fetches it whole: of a message, a session, a chunk, a memory; of code ``file:qualified name``.
    id: str
    score: float
    session_id: str | None = None
    file: str | None = None
    #: First and last line, from 1, both included.
    lines: tuple[int, int] | None = None
    at: int | None = None
    #: Digest of the file as it was read.
    hash: str | None = None
    #: Indexed folder that ``file`` is relative to.
    root: str | None = None
    #: The project it belongs to, where that is not the question's.
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of content, as it may be shown, with its worth (0..1)."""

    text: str
    provenance: Provenance
    worth: float


@dataclass(frozen=True, slots=True)
class ResolvedEntity:
    """What a reference of the query means, or may mean."""

    #: The words of the query, e.g. ``esa función``.
    text: str
    #: ``resolved``, ``ambiguous`` or ``none``.
    status: str
    names: tuple[str, ...]
    type: str | None
    file: str | None
    lines: tuple[int, int] | None
    confidence: float
    rule: str
    #: Where it was said last: message id, which message of the session it is (from 1), and its time.
    mentioned_in: str | None = None
    mentioned_number: int | None = None
    mentioned_at: int | None = None
    #: Whether its words tell what is meant, so that it can be looked for although nothing in the session fits.
    is_described: bool = False
    #: Whether it was resolved although none of these words fits: the session has nothing nearer.
    is_guess: bool = False
    #: The session that said it: the one asked about, or an earlier one of its project.
    session_id: str | None = None


@dataclass(frozen=True, slots=True)
class ContextAnswer:
    query: str
    expanded_query: str
    content: str
    resolved: tuple[ResolvedEntity, ...]
    session_context_used: bool
    provenance: tuple[Provenance, ...]
    #: 0..1; below the threshold of the kind of question the answer abstains.
    confidence: float
    threshold: float
    #: ``factual``, ``procedural``, ``conceptual``, ``temporal``, or ``none`` for what is no question.
    question_type: str
    abstained: bool
    #: Why it abstained, or what is missing.
    why: str | None
    #: What to ask back, in the language of the query.
    question: str | None
    tokens: int
    max_tokens: int
    elapsed_ms: float
    #: Pieces found that had no room.
    left_out: int = 0
    notes: tuple[str, ...] = ()
