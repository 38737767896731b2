"""Turns identifiers and prose in code into index terms.

Owns splitting identifiers and the form of a term: an English stem in lower case without accents.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

import Stemmer

_PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z\u00df-\u024f]+|\d+|[^\W\d_]+")
_LONGEST = 40
#: Identifiers whose pieces and terms are cached. A folder of 72,000 definitions has 50,000, nearly all of them written in
#: one file: kept, they were 22 MB of a server. With these, 7 % more are split when it is loaded.
_IDENTIFIERS = 8_000
_stemmer = Stemmer.Stemmer("english")


@lru_cache(_IDENTIFIERS)
def pieces(identifier: str) -> tuple[str, ...]:
    """``parse_HTTPHeader2`` -> ``parse``, ``http``, ``header``, ``2``."""
    return tuple(piece.lower()[:_LONGEST] for piece in _PIECES.findall(identifier))


@lru_cache(maxsize=60_000)
def stem(word: str) -> str:
    return _plain(_stemmer.stemWord(word.lower()))


@lru_cache(_IDENTIFIERS)
def name_terms(identifier: str) -> tuple[str, ...]:
    """Terms of a name, from all of its pieces, in order."""
    return tuple(stem(piece) for piece in pieces(identifier))


def _plain(text: str) -> str:
    """In lower case without accents."""
    lowered = text.casefold()
    if lowered.isascii():
        return lowered
    return "".join(c for c in unicodedata.normalize("NFD", lowered) if not unicodedata.combining(c))
