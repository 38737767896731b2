"""Words of developers in four languages: what carries a query to texts, and to code, in another.

Owns which lists are looked up for what; the lists are ``lists``, looking up is ``lexicon``.
"""

from __future__ import annotations

from functools import lru_cache

from ovillo.search.lexicon.lexicon import LONGEST, Lexicon, tells
from ovillo.search.lexicon.lists import COLUMNS, abbreviations, entries, topics

__all__ = [
    "COLUMNS",
    "LONGEST",
    "Lexicon",
    "abbreviations",
    "entries",
    "lexicon",
    "tells",
    "topics",
    "whole_lexicon",
]


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """For messages, read when first asked for. ``developer.tsv`` first: a search is not made to wait for words that few
    messages hold (40 ms for it, 0.2 s for all), unless one of another language is in no other list."""
    return Lexicon(list(entries("developer")), whole_lexicon)


@lru_cache(maxsize=1)
def whole_lexicon() -> Lexicon:
    """For code, which is named with more words: all lists."""
    return Lexicon([row for topic in topics() for row in entries(topic)])
