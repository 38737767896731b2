"""What was found for one question, before it is an answer.

Owns putting together what the providers found: best first, each place once, without what is worth too little.
"""

from __future__ import annotations

from ovillo.references.context.answer import Item
from ovillo.references.context.providers import ProviderAnswer

#: Pieces worth less than this share of the best one say nothing more.
_LEAST_SHARE = 0.35


class Gathered:
    def __init__(self, min_score: float | None = None) -> None:
        #: Stands in for every threshold.
        self._min_score = min_score
        self.sentences: list[str] = []
        self.items: list[Item] = []
        self.unresolved: list[str] = []
        self.notes: list[str] = []
        self.question: str | None = None
        #: That of what references mean.
        self.confidence = 0.0
        #: Something was found that answers by itself, whatever the scores.
        self.answers = False
        self.missing: list[str] = []
        #: How sure each provider is, and from where on that is enough.
        self._sure: list[tuple[float, float | None]] = []

    def add(self, answer: ProviderAnswer) -> None:
        have = {item.provenance.id for item in self.items}
        self.items += [item for item in answer.items if item.provenance.id not in have]
        self.sentences += answer.sentences
        self.notes += answer.notes
        self.answers |= answer.answers
        self.question = self.question or answer.question
        self.missing += answer.missing
        self._sure.append((answer.confidence, answer.threshold))

    def asks_for(self, threshold: float) -> None:
        """Somebody said what is enough, for every kind of evidence."""
        self._sure = [(confidence, threshold) for confidence, _ in self._sure]

    def most_sure(self, threshold: float) -> tuple[float, float]:
        """The confidence and threshold of the provider that is furthest above its own, or nearest to it."""
        if self._min_score is not None:
            return max([self.confidence, *(confidence for confidence, _ in self._sure)]), self._min_score
        sure = [(confidence, threshold if own is None else own) for confidence, own in self._sure]
        return max([*sure, (self.confidence, threshold)], key=lambda pair: pair[0] - pair[1])

    @property
    def best(self) -> float:
        return max((item.worth for item in self.items), default=0.0)

    def ranked(self) -> list[Item]:
        """Best first, without what is worth too little beside the best."""
        least = self.best * _LEAST_SHARE
        kept = {item.provenance.id: item for item in sorted(self.items, key=lambda x: x.worth) if item.worth >= least}
        return sorted(kept.values(), key=lambda item: -item.worth)
