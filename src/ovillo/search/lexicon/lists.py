"""The lists of words as they are kept: ``*.tsv``, a concept a line, and how programmers shorten words.

Owns reading the files; looking words up in them is ``lexicon``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from ovillo.model.data_files import beside, text_beside

#: Columns of a list, by Snowball's names.
COLUMNS = ("english", "spanish", "french", "portuguese")
#: A concept: for each column what it is called there, the usual word first.
Row = tuple[tuple[str, ...], ...]


def topics() -> list[str]:
    """Names of the lists, without their ending."""
    return sorted(file.stem for file in beside(__file__).glob("*.tsv"))


def entries(topic: str) -> Iterator[Row]:
    """The concepts of one list. Lines without all columns are passed over."""
    text = text_beside(__file__, f"{topic}.tsv")
    for line in text.splitlines():
        if line.count("\t") == len(COLUMNS) - 1 and not line.startswith("#"):
            yield tuple(
                tuple(word for word in map(str.strip, column.split(",")) if word) for column in line.split("\t")
            )


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
