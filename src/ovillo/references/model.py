"""Shapes of reference resolution: entities and turns in, resolved references out.

Owns the shapes only; pure, without a store. Times are integer milliseconds since 1970 UTC, spans count characters of the
query.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Entity:
    """``type`` is one of ``ovillo.model.entities.EntityType`` or ``bug``, ``feature``, ``session``; others are known by name
    only. ``parent`` is the id of the class or module that holds it."""

    id: str
    type: str
    name: str
    aliases: tuple[str, ...] = ()
    file: str | None = None
    lines: tuple[int, int] | None = None
    parent: str | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """``start`` and ``end`` within the turn's text. ``strength`` is 1 for a name said in full, less for an owner's name
    within that of its member."""

    entity: Entity
    turn: int
    start: int
    end: int
    strength: float = 1.0
    #: Whether the turn says its name; else it only refers to it.
    is_named: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. Names are found in ``text``."""

    session: str
    at: int | None
    role: str
    text: str
    message_id: str | None = None


class Kind(StrEnum):
    """What makes an expression one that refers."""

    EXPLICIT = "explicit"
    DEMONSTRATIVE = "demonstrative"
    DEFINITE = "definite"
    POSSESSIVE = "possessive"
    ORDINAL = "ordinal"
    PLURAL = "plural"
    OTHER = "other"
    HEADLESS = "headless"
    PRONOUN = "pronoun"
    PLACE = "place"
    NAMED = "named"


class Status(StrEnum):
    RESOLVED = "resolved"
    AMBIGUOUS = "ambiguous"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time the query names: ``since`` included, ``until`` not. ``wide_*`` is how far it may be stretched when
    nothing lies in it; ``session_before`` means the session before this one instead of times."""

    rule: str
    since: int = 0
    until: int = 0
    wide_since: int = 0
    wide_until: int = 0
    session_before: bool = False
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """``heads`` maps entity types that fit to how well (0..1); empty means any. ``words`` describe what is meant. ``gender``
    is m, f or empty."""

    text: str
    span: tuple[int, int]
    kind: Kind
    language: str
    head: str | None = None
    heads: Mapping[str, float] | None = None
    gender: str = ""
    is_plural: bool = False
    count: int | None = None
    ordinal: int | None = None
    words: tuple[str, ...] = ()
    #: Whether ``words`` may be a clause of their own: "close the bug when you merge".
    is_loose: bool = False
    window: Window | None = None
    #: Whether the expression is a demonstrative: something was said, not just something that exists.
    points: bool = False
    is_previous: bool = False
    #: The one after what is spoken of, in the list it stands in.
    is_next: bool = False
    #: Types that the verb of the query is usually done to.
    preferred: frozenset[str] = frozenset()
    #: Span of the expression after "of": "the file of that function".
    owner_span: tuple[int, int] | None = None
    #: Span of what describes it: "the file where load_rows lives".
    described_span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Candidate:
    """``evidence``: what the score was made of, as factors."""

    entity: Entity
    score: float
    evidence: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Resolved:
    """One reference and what became of it. ``candidates`` best first; ``entities`` is empty unless resolved."""

    reference: Reference
    status: Status
    entities: tuple[Entity, ...]
    candidates: tuple[Candidate, ...]
    rule: str
    confidence: float
    #: Whether it only tells which one another phrase means: "that class" in "the file of that class".
    serves: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """``expanded`` is the query with the concrete names put in."""

    query: str
    languages: tuple[str, ...]
    references: tuple[Resolved, ...]
    expanded: str

    @property
    def entities(self) -> tuple[Entity, ...]:
        """All that is meant, once each, in the order of the query."""
        found = {entity.id: entity for each in self.references if not each.serves for entity in each.entities}
        return tuple(found.values())

    @property
    def status(self) -> Status:
        """Of the query: resolved when anything is, else ambiguous when anything is."""
        states = {each.status for each in self.references}
        return next((x for x in (Status.RESOLVED, Status.AMBIGUOUS) if x in states), Status.NONE)

    @property
    def confidence(self) -> float:
        """The confidence of the least certain reference that was resolved; 0 when none was."""
        return min((x.confidence for x in self.references if x.status is Status.RESOLVED), default=0.0)
