"""What turns texts into index terms before they are written: handed in, so that the store knows nothing of languages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NewType, Protocol

from ovillo.model.records import SessionDelta


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

    def note_removals(self, count: int) -> None:
        """``count`` says how often words were removed from what the pairs feed. When it changed, all words count as never met.
        A store that keeps the pairs of each text gives another number before each."""
        ...

    def return_surfaces(self, surfaces: Sequence[tuple[str, str]]) -> None:
        """These were taken, but could not be stored: the next call of ``take_new_surfaces`` gives them again."""
        ...


#: What a store's preparation made of deltas: for that store's ``submit``, and opaque to everybody else.
Prepared = NewType("Prepared", object)


class Preparation(Protocol):
    """The part of writing that needs no database: analysis and encoding. Picklable, so that it can be done in
    another process; what it returns is handed to ``IngestStore.submit``."""

    def prepare(self, deltas: Sequence[SessionDelta]) -> Prepared: ...
