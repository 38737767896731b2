"""How well a text answers a query's words: its best stretch, for scoring, snippets and highlights.

Owns positions of matches in texts. A long tool output holds many common words somewhere; only words close together are
evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import Any

import re2

from ovillo.model.dataclass import dataclass
from ovillo.search.analysis import fold, fold_with_offsets, index_forms
from ovillo.search.query_terms import QueryTerm
from ovillo.search.windows import check

#: A stretch of this many characters is read at a glance.
STRETCH = 240
_LOOKED_AT = 60_000
#: Characters of a text folded at once, and their overlap.
_FOLDED, _OVERLAP = 32 * 1024, 8 * 1024
#: Characters before a window that are read with it.
_LEAD = 16
#: Words cached for one query.
_MOST_JUDGED = 50_000
#: Shorter texts are read faster word by word (characters).
_WORTH_SCANNING = 400
_WORD = re.compile(r"\w+")
#: Neither ASCII nor part of a word.
_SIGN = re.compile(r"[^\w\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Occurrence:
    start: int
    end: int
    #: Index of the query term.
    query_term: int


def find_occurrences(text: str, query_terms: Sequence[QueryTerm]) -> list[Occurrence]:
    """Where words of the query terms occur in ``text``, in order."""
    looked = text[:_LOOKED_AT]
    by_term: dict[str, int] = {
        term: i for i, query_term in enumerate(query_terms) for term in query_term.terms if not query_term.literal
    }
    heads = {term[:3] for term in by_term}
    found: list[Occurrence] = []
    cache = _judged(tuple(by_term.items()))
    if len(cache) > _MOST_JUDGED:
        cache.clear()
    for start, end in _likely_words(looked, tuple(by_term)):
        written = looked[start:end]
        if written in cache:
            query_term = cache[written]
        else:
            folded = fold(written)
            # A stem shares its first letters with the word; identifiers contain it anywhere.
            likely = folded[:3] in heads or "_" in written or not written.islower() or not written.isalpha()
            query_term = cache[written] = (
                next((by_term[form] for form in index_forms(written, pieces=True) if form in by_term), None)
                if likely
                else None
            )
        if query_term is not None:
            found.append(Occurrence(start, end, query_term))
    for i, asked in enumerate(query_terms):
        if asked.literal or asked.inside:
            found += [Occurrence(start, end, i) for start, end in find_text(looked, asked.word)]
    return sorted(found, key=lambda item: (item.start, -item.end))


@lru_cache(maxsize=16)
def _judged(by_term: tuple[tuple[str, int], ...]) -> dict[str, int | None]:
    """Cache of words examined for these terms, with the query term that each one matches: the hundreds of texts
    examined for one query share most of their words."""
    return {}


def _likely_words(text: str, terms: tuple[str, ...]) -> Iterator[tuple[int, int]]:
    """Words of ``text`` that may be one of ``terms``: if these are all ASCII, only words that contain the beginning of
    one."""
    if len(text) < _WORTH_SCANNING or not terms:
        return ((word.start(), word.end()) for word in _WORD.finditer(text))
    if not text.isascii():
        # Dashes, quotes and ticks are in no word, and in most of what models write.
        signless = _SIGN.sub(" ", text)
        if not signless.isascii():
            return ((word.start(), word.end()) for word in _WORD.finditer(text))
        text = signless
    # As bytes: of a string, the library's own code counts characters for every match, twice the time of matching.
    return (word.span() for word in _holding(terms).finditer(text.encode()))


@lru_cache(maxsize=64)
def _holding(terms: tuple[str, ...]) -> Any:
    """Words containing the beginning of any term: a stem differs from its word only in the last letters, and
    identifiers may have underscores anywhere."""
    beginnings = {term[: max(3, len(term) - 2)] for term in terms}
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    alternatives = "|".join("_?".join(map(re.escape, beginning)) for beginning in sorted(beginnings))
    return re2.compile(rf"\w*(?:{alternatives})\w*".encode(), options)


def find_text(
    text: str,
    wanted: str,
    most: int = 20,
    *,
    whole: bool = False,
    begins: bool = False,
    deadline: float | None = None,
) -> list[tuple[int, int]]:
    """Positions of ``wanted`` in ``text``, ignoring accents, case and white space; ``whole`` words only, or only where
    a word ``begins`` with it.

    Raises OutOfTime, in long texts."""
    needle = " ".join(fold(wanted).split())
    if not needle:
        return []
    expression = r"\s+".join(map(re.escape, needle.split(" ")))
    if (whole or begins) and needle[0].isascii():
        # CJK is written without blanks: a word may begin anywhere.
        expression = r"(?<![a-z0-9_])" + expression
    if whole:
        expression += r"(?![a-z0-9_])" if needle[-1].isascii() and needle[-1].isalnum() else ""
    pattern = re.compile(expression)
    return list(islice(_places(text, pattern, deadline), most))


def _places(text: str, pattern: re.Pattern[str], deadline: float | None) -> Iterator[tuple[int, int]]:
    """Matches in the folded text as positions in ``text``, which is folded one window at a time."""
    passed = 0
    for start in range(0, max(len(text), 1), _FOLDED):
        check(deadline if start else None)
        # The text before decides whether a word begins here.
        lead = max(0, start - _LEAD)
        folded, offsets = fold_with_offsets(text[lead : start + _FOLDED + _OVERLAP])
        for match in pattern.finditer(folded):
            first, last = lead + offsets[match.start()], lead + offsets[match.end() - 1] + 1
            if first >= start + _FOLDED:
                break
            if first >= max(start, passed):
                passed = last
                yield first, last


def best_stretch(found: Sequence[Occurrence], weights: Sequence[float]) -> tuple[float, int, int]:
    """``(weight of the distinct query terms in it, start, end)`` of the best stretch of ``STRETCH`` characters."""
    best = (0.0, 0, 0)
    first = 0
    for last, item in enumerate(found):
        # A word longer than a stretch is one by itself.
        while first < last and found[first].start < item.end - STRETCH:
            first += 1
        inside = {found[i].query_term for i in range(first, last + 1)}
        weight = sum(weights[query_term] for query_term in inside)
        if weight > best[0]:
            best = (weight, found[first].start, item.end)
    return best
