"""The lists of words as they are kept: ``*.tsv``, a concept a line, and how programmers shorten words.

Owns reading the files; looking words up in them is ``lexicon``.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files

#: Columns of a list, by Snowball's names.
COLUMNS = ("english", "spanish", "french", "portuguese")
#: A concept: for each column what it is called there, the usual word first.
Row = tuple[tuple[str, ...], ...]


def topics() -> list[str]:
    """Names of the lists, without their ending."""
    return sorted(file.name.removesuffix(".tsv") for file in files(__package__).iterdir() if file.name.endswith(".tsv"))


def entries(topic: str) -> Iterator[Row]:
    """The concepts of one list. Lines without all columns are passed over."""
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
