"""From the words of a query to what the index can be asked: one unit a word, with its rarity.

Owns forms (all languages a text may be in), words inside words, and what was not found. Knows nothing of scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ovillo.model.records import Namespace
from ovillo.search.analysis import cjk_runs, fold, is_stop_word, query_terms, words
from ovillo.store.protocol import AllOf, AnyOf, Match, Phrase, Store, Term

#: Words that hold a fragment; more than this and the fragment says too little.
_SURFACES = 60
_MIN_FRAGMENT = 3


@dataclass(frozen=True, slots=True)
class Unit:
    """One word of the query. ``terms`` are the index terms that stand for it, ``match`` how to ask for them."""

    word: str
    terms: tuple[str, ...]
    match: Match
    #: Documents that hold it (an upper bound where it has several terms).
    frequency: int
    #: Found only inside longer words.
    inside: bool = False
    #: The whole query word is this run of pairs (CJK), to be seen in the text as it stands.
    literal: bool = False

    def weight(self, documents: int) -> float:
        """Inverse document frequency."""
        return math.log(1 + (documents - self.frequency + 0.5) / (self.frequency + 0.5)) if documents else 1.0


@dataclass(frozen=True, slots=True)
class Units:
    found: tuple[Unit, ...]
    #: Words that nothing holds.
    missing: tuple[str, ...] = ()


class UnitBuilder:
    def __init__(self, store: Store) -> None:
        self._store = store

    def of_words(self, namespace: Namespace, written: tuple[str, ...]) -> Units:
        tokens = [token for word in written for token in words(word)]
        telling = [token for token in tokens if not is_stop_word(token)] or tokens
        built = [self._unit(namespace, token) for token in dict.fromkeys(telling)]
        missing = tuple(token for token, unit in zip(dict.fromkeys(telling), built, strict=True) if unit is None)
        return Units(tuple(unit for unit in built if unit is not None), missing)

    def of_fragment(self, namespace: Namespace, text: str) -> Match | None:
        """What a text holding ``text`` somewhere must match; ``None`` when the index cannot tell."""
        tokens = words(text)
        parts: list[Match] = []
        for token in tokens:
            unit = self._cjk(namespace, token) or self._inside(namespace, token)
            if unit is None and len(fold(token)) >= _MIN_FRAGMENT and not is_stop_word(token):
                return Term("\x01nothing")
            if unit is not None and len(unit.terms) < _SURFACES:
                parts.append(unit.match)
        return AllOf(tuple(parts)) if parts else None

    def beginning_with(self, namespace: Namespace, prefix: str) -> Unit | None:
        folded = fold("".join(words(prefix)[-1:]))
        terms = [term for term, _ in self._store.terms_with_prefix(namespace, folded, _SURFACES)]
        surfaces = self._store.surfaces_containing(namespace, folded, 4 * _SURFACES) if len(folded) >= 2 else []
        terms += [term for surface, term in surfaces if surface.startswith(folded)]
        return self._from_terms(namespace, prefix, tuple(dict.fromkeys(terms)))

    def _unit(self, namespace: Namespace, token: str) -> Unit | None:
        return (
            self._cjk(namespace, token)
            or self._from_terms(namespace, token, tuple(query_terms(token)))
            or self._inside(namespace, token)
        )

    def _cjk(self, namespace: Namespace, token: str) -> Unit | None:
        runs = cjk_runs(token)
        if not runs:
            return None
        phrases: list[Match] = [Phrase(tuple(pairs)) if len(pairs) > 1 else Term(pairs[0]) for pairs in runs]
        terms = tuple(pair for pairs in runs for pair in pairs)
        rarest = min(self._store.document_frequency(namespace, terms).values(), default=0)
        match = phrases[0] if len(phrases) == 1 else AllOf(tuple(phrases))
        return Unit(token, terms, match, rarest, literal=True) if rarest else None

    def _from_terms(self, namespace: Namespace, word: str, terms: tuple[str, ...]) -> Unit | None:
        held = {term: n for term, n in self._store.document_frequency(namespace, terms).items() if n}
        if not held:
            return None
        match: Match = Term(next(iter(held))) if len(held) == 1 else AnyOf(tuple(map(Term, held)))
        return Unit(word, tuple(held), match, sum(held.values()))

    def _inside(self, namespace: Namespace, token: str) -> Unit | None:
        fragment = fold(token)
        if len(fragment) < _MIN_FRAGMENT:
            return None
        found = self._store.surfaces_containing(namespace, fragment, _SURFACES)
        unit = self._from_terms(namespace, token, tuple(dict.fromkeys(term for _, term in found)))
        exact = any(surface == fragment for surface, _ in found)
        return None if unit is None else Unit(unit.word, unit.terms, unit.match, unit.frequency, inside=not exact)
