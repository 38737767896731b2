"""What to ask the index for, so that no query reads more than it must.

Owns the budget of matches: the commonest words of a long question are left out, and words that nearly every
document holds are looked for in the newest documents only. Each shortcut is said in ``scored``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ovillo.model.records import Namespace
from ovillo.search.units import Unit
from ovillo.store.protocol import AllOf, AnyOf, DocFilter, DocId, Except, Match, Scored, Store

#: Matches that are scored for one query: about a millisecond of processor time a thousand.
BUDGET = 2_000
#: Candidates taken on to fusion.
CANDIDATES = 300


@dataclass(slots=True)
class Plan:
    """Candidates with their lexical scores, and how they were come by."""

    scores: dict[DocId, Scored] = field(default_factory=dict)
    scored: list[str] = field(default_factory=list)

    def add(self, hits: Sequence[Scored]) -> None:
        for hit in hits:
            known = self.scores.get(hit.doc)
            if known is None or hit.score > known.score:
                self.scores[hit.doc] = hit


def gather(
    store: Store,
    namespace: Namespace,
    units: Sequence[Unit],
    where: DocFilter,
    *,
    must: Sequence[Match] = (),
    drop: Match | None = None,
    documents: int,
) -> Plan:
    """All words together first, then any of the rarer ones. ``must`` holds in every hit, ``drop`` in none."""
    plan = Plan()

    def ask(expression: Match, frequency: int) -> None:
        whole = AllOf((expression, *must)) if must else expression
        newest = _slice(frequency, documents)
        if newest is not None:
            plan.scored.append(f"common words over the newest {newest:,} texts")
        limited = Except(whole, drop) if drop else whole
        plan.add(store.match(namespace, limited, where, CANDIDATES, newest=newest))

    if not units:
        if must:
            ask(must[0], 0)
            plan.scored.append("all of what was asked")
        return plan
    if len(units) == 1:
        ask(units[0].match, units[0].frequency)
        plan.scored.append("bm25")
        return plan
    ask(AllOf(tuple(unit.match for unit in units)), min(unit.frequency for unit in units))
    plan.scored.append("bm25 of all words")
    # Any word: a text that holds nearly all of them must be found too.
    rare: list[Unit] = []
    total = 0
    for unit in sorted(units, key=lambda unit: unit.frequency):
        if rare and total + unit.frequency > BUDGET:
            break
        rare.append(unit)
        total += unit.frequency
    if len(rare) < len(units):
        plan.scored.append(f"any of the {len(rare)} rarest of {len(units)} words")
    else:
        plan.scored.append("any word")
    ask(rare[0].match if len(rare) == 1 else AnyOf(tuple(unit.match for unit in rare)), total)
    return plan


def _slice(frequency: int, documents: int) -> int | None:
    """How many of the newest documents to look at, when all are too many."""
    if frequency <= 4 * BUDGET:
        return None
    return max(BUDGET, documents * BUDGET // frequency)
