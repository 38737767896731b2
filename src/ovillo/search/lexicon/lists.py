"""The lists of words as they are kept: ``*.tsv``, a concept a line, and how programmers shorten words.

Owns reading the files, and finding the lines that may hold a word; looking words up is ``lexicon``.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import accumulate

from ovillo.model.data_files import beside, text_beside

#: Columns of a list, by Snowball's names.
COLUMNS = ("english", "spanish", "french", "portuguese")
#: A concept: for each column what it is called there, the usual word first.
Row = tuple[tuple[str, ...], ...]
#: Lists whose English words are what the others may mean, each by itself: "devour" and "skip" are no synonyms of "swallow".
ONE_WAY = frozenset({"verbs"})
_MARKS = re.compile("[\u0300-\u036f]")


def topics() -> list[str]:
    """Names of the lists, without their ending."""
    return sorted(file.stem for file in beside(__file__).glob("*.tsv"))


def entries(topic: str) -> Iterator[Row]:
    """The concepts of one list. Lines without all columns are passed over."""
    return map(_row, _lines(topic))


class Concepts(Sequence[Row]):
    """The concepts of some lists, in order. A line is taken apart when it is asked for: reading all of them for a question of
    five words takes a hundred times as long as finding theirs."""

    def __init__(self, topics: Sequence[str]) -> None:
        by_topic = {topic: list(_lines(topic)) for topic in topics}
        self._lines = [line for lines in by_topic.values() for line in lines]
        #: Whether the English words of a concept stand for each other, too.
        self._is_thesaurus = [topic not in ONE_WAY for topic, lines in by_topic.items() for _ in lines]
        self._plain = plain("\n".join(self._lines))
        self._plain_lines = self._plain.split("\n")
        self._ends = list(accumulate(len(line) + 1 for line in self._plain_lines))

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, at: int) -> Row:  # type: ignore[override]  # no slices
        return _row(self._lines[at])

    def names_with(self, letters: str) -> Iterator[tuple[int, str, str]]:
        """Names that hold these letters (``plain`` ones) anywhere: concept, language, name."""
        at = self._plain.find(letters)
        while at >= 0:
            number = bisect_right(self._ends, at)
            columns = zip(COLUMNS, self._lines[number].split("\t"), self._plain_lines[number].split("\t"), strict=True)
            for language, written, plainly in columns:
                if letters in plainly and (language != COLUMNS[0] or self._is_thesaurus[number]):
                    for name, plain_name in zip(written.split(","), plainly.split(","), strict=True):
                        if letters in plain_name:
                            yield number, language, name.strip()
            at = self._plain.find(letters, self._ends[number])


def plain(text: str) -> str:
    """Lower case, without accents, and ``y`` as ``i``: stemming puts one for the other."""
    return _MARKS.sub("", unicodedata.normalize("NFD", text.lower())).replace("y", "i")


def _lines(topic: str) -> Iterator[str]:
    for line in text_beside(__file__, f"{topic}.tsv").splitlines():
        if line.count("\t") == len(COLUMNS) - 1 and not line.startswith("#"):
            yield line


def _row(line: str) -> Row:
    return tuple(tuple(word for word in map(str.strip, column.split(",")) if word) for column in line.split("\t"))


@lru_cache(maxsize=1)
def abbreviations() -> dict[str, tuple[str, ...]]:
    """English words and how programmers shorten them."""
    text = text_beside(__file__, "abbreviations.txt")
    found: dict[str, tuple[str, ...]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            word, *short = line.split()
            found[word] = (*found.get(word, ()), *short)
    return found
