"""Recovers from FTS5's scores how densely a term occurs in a document.

Owns the inversion of FTS5's BM25 (its source, fts5_aux.c): FTS5 counts, but returns only scores. The protocol uses
counts relative to length, so that ranking is the same on every engine; a score yields exactly that quotient, so no
length has to be looked up.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ovillo.store.documents import K1

#: Bound just below the highest possible score, against rounding.
_MOST = 0.97 * (K1 + 1)


def densities(scores: Sequence[float], rarity: float) -> list[float]:
    """Occurrences divided by the document's length norm, from each ``bm25()`` of a single term (negative, as FTS5 gives
    it)."""
    highest = K1 + 1
    return [share / (highest - share) for share in [min(-score / rarity, _MOST) for score in scores]]


def rarity(frequency: int, documents: int) -> float:
    """FTS5's inverse document frequency."""
    return max(1e-6, math.log((documents - frequency + 0.5) / (frequency + 0.5))) if documents > frequency else 1e-6


def length_of(sizes: bytes) -> int:
    """A document's length in terms, from its row of ``fts_docsize``: one number for each column, as SQLite writes varints.
    That table has hundreds of documents on a page, the parts themselves a dozen. A title has no length (``Doc``)."""
    if sizes[0]:
        return 0
    if max(sizes) < 0x80:
        return sum(sizes)
    whole = number = 0
    for byte in sizes:
        number = number << 7 | byte & 0x7F
        if byte < 0x80:
            whole, number = whole + number, 0
    return whole
