"""The lists as concepts, for finding code: what a word of one language may be called in another, or in the same.

Owns reading all lists and looking words up by their stems, a language at a time. The English column is a thesaurus, too:
words of one line name the same thing. What a word found so is worth is the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from ovillo.search.analysis import fold, words
from ovillo.search.lexicon import COLUMNS, entries, topics

#: Stems of a word or phrase.
Key = tuple[str, ...]
#: A concept by its number, and one of its names.
Named = tuple[int, str]
Row = tuple[tuple[str, ...], ...]
#: Words in the longest phrase that is looked up.
LONGEST = 4


class Concepts:
    """Thread-safe: what two look up at once is made twice, and the same."""

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._stemmers = {language: Stemmer.Stemmer(language) for language in COLUMNS}
        self._stems: dict[str, dict[str, str]] = {language: {} for language in COLUMNS}
        self._indexes: dict[str, dict[Key, tuple[Named, ...]]] = {}
        self._called: dict[tuple[int, str], tuple[Key, ...]] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def stem(self, language: str, word: str) -> str:
        """Stemmed as a word of the language, then without accents."""
        known = self._stems[language]
        found = known.get(word)
        if found is None:
            if len(known) > _CACHED:
                known.clear()
            found = known[word] = fold(self._stemmers[language].stemWord(word.lower()))
        return found

    def key(self, language: str, phrase: str) -> Key:
        return tuple(self.stem(language, word) for word in words(phrase) if len(word) > 1 or word.isdigit())

    def knows(self, language: str, key: Key) -> bool:
        return key in self._index(language)

    def named(self, language: str, key: Key) -> tuple[Named, ...]:
        """Concepts whose name in this language has these stems, with the name as it is written, without accents."""
        return self._index(language).get(key, ())

    def called(self, row: int, language: str) -> tuple[Key, ...]:
        """What a concept is called in a language, the usual word first."""
        known = self._called.get((row, language))
        if known is None:
            phrases = self._rows[row][COLUMNS.index(language)]
            known = tuple(dict.fromkeys(key for phrase in phrases if (key := self.key(language, phrase))))
            self._called[row, language] = known
        return known

    def single_words(self, language: str) -> set[str]:
        """The stems of all names of one word."""
        return {key[0] for key in self._index(language) if len(key) == 1}

    def _index(self, language: str) -> dict[Key, tuple[Named, ...]]:
        made = self._indexes.get(language)
        if made is None:
            made = self._indexes[language] = self._indexed(language)
        return made

    def _indexed(self, language: str) -> dict[Key, tuple[Named, ...]]:
        column = COLUMNS.index(language)
        index: dict[Key, tuple[Named, ...]] = {}
        for number, row in enumerate(self._rows):
            for phrase in row[column]:
                key = self.key(language, phrase)
                if key:
                    index[key] = (*index.get(key, ()), (number, fold(phrase)))
        return index


_CACHED = 60_000


@lru_cache(maxsize=1)
def concepts() -> Concepts:
    """All lists of the project, read when first asked for."""
    return Concepts([row for topic in topics() for row in entries(topic)])
