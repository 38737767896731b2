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
    "prose_lexicon",
    "tells",
    "topics",
    "whole_lexicon",
]

#: Where two lists know a word, the first says what it means in a conversation between developers.
_OF_PROSE = ("developer", "everyday", "technology", "actions", "domains")


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """For messages, read when first asked for. ``developer.tsv`` first: a search is not made to wait for words that few
    messages hold (40 ms for it, 0.2 s for all), unless one of another language is in no other list."""
    return Lexicon(list(entries("developer")), whole_lexicon)


@lru_cache(maxsize=1)
def whole_lexicon() -> Lexicon:
    """For code, which is named with more words: all lists but the everyday one, whose words name no code."""
    return Lexicon([row for topic in topics() if topic != "everyday" for row in entries(topic)])


@lru_cache(maxsize=1)
def prose_lexicon() -> Lexicon:
    """For whole sentences, put into English for a model that reads nothing else: all lists."""
    return Lexicon([row for topic in _OF_PROSE for row in entries(topic)])
