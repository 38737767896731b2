"""What a way of searching hands on: places in order, and how to mark them. Owns the shapes only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field

from ovillo.model.dataclass import dataclass
from ovillo.search.query_terms import QueryTerm
from ovillo.store.protocol import Doc, DocId

Places = list[tuple[int, int]]
#: Two that fit badly are not told apart by a small difference.
_ABOUT = 0.8


@dataclass(frozen=True, slots=True)
class Ranked:
    doc: DocId
    score: float
    #: What brought it in: words, phrase, prefix, substring, regex, meaning, neighbour, newest.
    by: str
    #: The place in the text that made it a hit, where one was looked for.
    at: tuple[int, int] | None = None


@dataclass(slots=True)
class Ranking:
    """Places in order, whatever session they stand in, before they are grouped and shown."""

    ranked: list[Ranked]
    #: Where they stand, as far as it was looked up on the way.
    docs: dict[DocId, Doc] = field(default_factory=dict)
    query_terms: Sequence[QueryTerm] = ()
    #: Exact texts or expressions to mark in a text, beside the query terms.
    mark: Callable[[str], Places] | None = None
    scored: str = ""
    notes: tuple[str, ...] = ()
    cut: str | None = None
    #: How well the best place fits, 0..1: the share of the words, or how near it is in meaning; ``None`` where a place fits or
    #: does not (expressions, filters).
    fit: float | None = None
    #: Whether places were compared by meaning, which finds something nearest to anything.
    by_meaning: bool = False

    def fits_as_well_as(self, other: Ranking) -> bool:
        """Whether places here answer about as much as those of the other do."""
        if not self.ranked or not other.ranked:
            return bool(self.ranked)
        return self.fit is not None and other.fit is not None and self.fit >= _ABOUT * other.fit
