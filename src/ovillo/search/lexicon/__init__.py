"""Words of developers in four languages: what carries a query to texts, and to code, in another.

Owns the lists (``*.tsv``, a concept a line) and looking words up in ``developer.tsv`` by stem, for messages; code is
named with more words, which ``concepts`` looks up in all the lists. What a translation is worth is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files

import Stemmer

from ovillo.search.analysis import fold, language_votes, words
from ovillo.search.stopwords import STOP_WORDS

#: Columns of the list, by Snowball's names.
COLUMNS = ("english", "spanish", "french", "portuguese")
#: Words in the longest entry ("tiempo de espera").
_LONGEST = 4


class Lexicon:
    def __init__(self, rows: Sequence[Sequence[Sequence[str]]]) -> None:
        """``rows``: for each concept, the alternatives of each column."""
        self._rows = rows
        self._stems = {language: Stemmer.Stemmer(language).stemWord for language in COLUMNS}
        self._index: dict[str, dict[tuple[str, ...], list[int]]] = {language: {} for language in COLUMNS}
        for number, row in enumerate(rows):
            for language, alternatives in zip(COLUMNS, row, strict=True):
                for alternative in alternatives:
                    self._index[language].setdefault(self._key(language, alternative), []).append(number)

    def translations(self, word: str) -> tuple[str, ...]:
        """What ``word`` is in the other languages, single words only; none that another language has, too."""
        found: dict[str, None] = {}
        for language in COLUMNS:
            key = self._key(language, word)
            for number in self._index[language].get(key, ()):
                for other, alternatives in zip(COLUMNS, self._rows[number], strict=True):
                    if other != language:
                        found.update(
                            (text, None) for text in alternatives if " " not in text and not self._misleads(text, other)
                        )
        return tuple(text for text in found if fold(text) != fold(word))

    def in_english(self, text: str) -> str | None:
        """``text`` word by word in English, what is not in the list as it stands; ``None`` when it is English."""
        tokens = words(text)
        language = self._language(tokens)
        if language == "english":
            return None
        said: list[str] = []
        at = 0
        while at < len(tokens):
            taken, english = self._longest(language, tokens[at : at + _LONGEST])
            said.append(english)
            at += taken
        return " ".join(word for word in said if word) or None

    def _longest(self, language: str, tokens: Sequence[str]) -> tuple[int, str]:
        for length in range(len(tokens), 0, -1):
            numbers = self._index[language].get(self._key(language, " ".join(tokens[:length])))
            if numbers:
                return length, self._rows[numbers[0]][0][0]
        return 1, "" if tokens[0].lower() in STOP_WORDS[language] else tokens[0]

    def _language(self, tokens: Sequence[str]) -> str:
        """Of little words and listed words; English when it is not clear."""
        votes = language_votes(token.lower() for token in tokens)
        for language in COLUMNS:
            known = sum(self._key(language, token) in self._index[language] for token in tokens)
            votes[language] = votes.get(language, 0) + known
        best = max(COLUMNS, key=lambda language: votes[language])
        return best if votes[best] > votes["english"] else "english"

    def _misleads(self, text: str, language: str) -> bool:
        """Whether the word is an English one of another meaning (French ``file``, Spanish ``red``)."""
        return language != "english" and self._key("english", text) in self._index["english"]

    def _key(self, language: str, text: str) -> tuple[str, ...]:
        stem = self._stems[language]
        return tuple(fold(stem(word.lower())) for word in words(text))


def topics() -> list[str]:
    """Names of the lists, without their ending."""
    return sorted(file.name.removesuffix(".tsv") for file in files(__package__).iterdir() if file.name.endswith(".tsv"))


def entries(topic: str) -> Iterator[tuple[tuple[str, ...], ...]]:
    """The concepts of one list: for each column its alternatives. Lines without all columns are passed over."""
    text = files(__package__).joinpath(f"{topic}.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.count("\t") == len(COLUMNS) - 1 and not line.startswith("#"):
            yield tuple(
                tuple(word for word in map(str.strip, column.split(",")) if word) for column in line.split("\t")
            )


@lru_cache(maxsize=1)
def abbreviations() -> dict[str, tuple[str, ...]]:
    """English words and how programmers shorten them."""
    text = files(__package__).joinpath("abbreviations.txt").read_text(encoding="utf-8")
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, *short = line.split()
            found[word] = (*found.get(word, ()), *short)
    return found


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The list for messages, read when first asked for. Only ``developer.tsv``: a search is not made to wait for words
    that few messages hold (40 ms for it, 0.2 s for all)."""
    return Lexicon(list(entries("developer")))
