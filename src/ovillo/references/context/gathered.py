"""What was found for one question, before it is an answer.

Owns putting together what the providers found: best first, each place once, without what is worth too little.
"""

from __future__ import annotations

from ovillo.references.context.answer import Item
from ovillo.references.context.providers import ProviderAnswer

#: Pieces worth less than this share of the best one say nothing more.
_LEAST_SHARE = 0.35


class Gathered:
    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.items: list[Item] = []
        self.unresolved: list[str] = []
        self.notes: list[str] = []
        self.question: str | None = None
        self.confidence = 0.0
        #: Something was found that answers by itself, whatever the scores.
        self.answers = False
        #: What providers measured of their best pieces.
        self.features: dict[str, float] = {}

    def add(self, found: ProviderAnswer) -> None:
        have = {item.provenance.id for item in self.items}
        self.items += [item for item in found.items if item.provenance.id not in have]
        self.sentences += found.sentences
        self.notes += found.notes
        self.answers |= found.answers
        self.question = self.question or found.question
        self.features.update(found.features)

    @property
    def best(self) -> float:
        return max((item.worth for item in self.items), default=0.0)

    def ranked(self) -> list[Item]:
        """Best first, without what is worth too little beside the best."""
        least = self.best * _LEAST_SHARE
        kept = {item.provenance.id: item for item in sorted(self.items, key=lambda x: x.worth) if item.worth >= least}
        return sorted(kept.values(), key=lambda item: -item.worth)
