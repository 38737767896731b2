"""From FTS5's scores back to how often a term stands in a document.

Owns the inversion of FTS5's BM25 (its source, fts5_aux.c): FTS5 counts, but gives only scores away. The protocol speaks of
counts, so that the ranking is the same on every engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import apsw

from ovillo.store.protocol import Except, Match, Term

#: Parameters that FTS5's bm25() has built in.
_K1, _B = 1.2, 0.75
_FIGURES = (
    "SELECT (SELECT value FROM meta WHERE key = 'documents'), (SELECT value FROM meta WHERE key = 'terms'),"
    " (SELECT doc FROM fts_terms WHERE term = ?)"
)


def occurrences(db: apsw.Connection, expression: Match) -> Callable[[float, int], float] | None:
    """Makes a count of ``(score, length of the document)``; ``None`` where ``expression`` is not about a single term."""
    term = expression.keep if isinstance(expression, Except) else expression
    if not isinstance(term, Term):
        return None
    figures = db.execute(_FIGURES, (term.text,)).fetchone()
    documents, terms, frequency = (int(figure or 0) for figure in figures)
    rarity = _rarity(frequency, documents)
    average = terms / documents if documents else 0.0

    def count(score: float, length: int) -> float:
        share = min(score / rarity, 0.97 * (_K1 + 1))
        norm = _K1 * (1 - _B + _B * length / average) if average else _K1
        return share * norm / (_K1 + 1 - share)

    return count


def _rarity(frequency: int, documents: int) -> float:
    """FTS5's inverse document frequency."""
    return max(1e-6, math.log((documents - frequency + 0.5) / (frequency + 0.5))) if documents > frequency else 1e-6
