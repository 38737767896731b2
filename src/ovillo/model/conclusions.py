"""What a sentence of a session may conclude, and where such a sentence stands. Owns the kinds only: recognising them is
``ovillo.sessions.conclusions``'s."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Flag, auto


class Conclusion(Flag):
    NOTHING = 0
    DECISION = auto()
    CAUSE = auto()
    OUTCOME = auto()
    REJECTED = auto()
    PENDING = auto()
    #: A day, a time, or a version of something that happened.
    DATE = auto()
    #: Counts of tests, exit codes, measured figures.
    RESULT = auto()
    #: These two conclude nothing.
    QUESTION = auto()
    ANNOUNCEMENT = auto()


@dataclass(frozen=True, slots=True)
class ConcludedAt:
    """A sentence that concludes something, by its place in the searchable text of its part."""

    start: int
    end: int
    kinds: Conclusion
