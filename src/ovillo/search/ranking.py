"""From candidates to an order: words, meaning and neighbours, each weighed by the query's own evidence.

Owns the scores. Evidence for the numbers: evidence.md, "Ranking" (length normalisation of dialogue,
neighbouring turns, and that no fixed weight of vectors serves both exact and paraphrased queries), and ``bench``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING

from ovillo.model.records import Namespace, PartType
from ovillo.search.planner import Plan
from ovillo.search.ranked import Ranked
from ovillo.store.documents import K1, length_norm
from ovillo.store.protocol import DocId, Outline

if TYPE_CHECKING:
    from ovillo.store.protocol import TextStore

#: Length counts little in dialogue, a lot in code and tool output (evidence.md, "Ranking"), for which densities are
#: computed.
_B_SAID = 0.3
#: Bonus from the next message and the next but one. The measurement had .5 and .25; with coverage in the score, less is
#: better.
_NEIGHBOUR = {1: 0.25, 2: 0.125}
#: Documents whose neighbours are looked up.
_EXPANDED = 60
#: Share of the query that the best place must hold for words to decide alone.
_SURE = 0.97
#: Weight of words relative to meaning: words of a question occur together more often than by chance.
_WORDS = 0.6
#: Weight of another copy of a place, and what each e-fold of copies subtracts from all of them.
_COPY, _COPIES = 0.5, 0.5
#: Cosines equal to this many digits are of the same passage.
_SAME_DIGITS = 6

#: A document deleted meanwhile counts as the oldest.
_GONE = 0

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION, None)


def roughly(plan: Plan, weights: Sequence[float], missing: float, most: int) -> list[DocId]:
    """The best documents when all are scored like tool output, best first; ties newest first."""
    whole = sum(weights) + missing
    highest = K1 + 1
    scores: dict[DocId, float] = {}
    covered: dict[DocId, float] = {}
    for index, densities in plan.densities.items():
        weight = weights[index]
        gained = {doc: weight * times * highest / (times + 1) for doc, times in densities.items()}
        if not scores:
            scores, covered = gained, dict.fromkeys(gained, weight)
            continue
        for doc, score in gained.items():
            scores[doc] = scores.get(doc, 0.0) + score
            covered[doc] = covered.get(doc, 0.0) + weight
    if whole and plan.densities:
        scores = {doc: score * covered[doc] / whole for doc, score in scores.items()}
    else:
        scores = dict.fromkeys(plan.found, 1.0)
    least = sorted(scores.values(), reverse=True)[most - 1] if len(scores) > most else 0.0
    recency = plan.found
    best = sorted([(score, recency[doc], doc) for doc, score in scores.items() if score >= least], reverse=True)
    return [doc for _, _, doc in best[:most]]


def lexical(
    plan: Plan,
    weights: Sequence[float],
    missing: float,
    average: float,
    docs: Mapping[DocId, Outline],
) -> dict[DocId, float]:
    """BM25 of each of ``docs`` times the share of the query (by rarity) that it holds.

    ``missing`` is the rarity of words that no document holds."""
    whole = sum(weights) + missing
    scores: dict[DocId, float] = {}
    for doc, place in docs.items():
        longer = 1.0
        if place.type in _SAID and not place.synthetic:
            longer = length_norm(place.length, average) / length_norm(place.length, average, _B_SAID)
        score = covered = 0.0
        for index, densities in plan.densities.items():
            times = densities.get(doc)
            if times is not None:
                dense_times = times * longer
                score += weights[index] * dense_times * (K1 + 1) / (dense_times + 1)
                covered += weights[index]
        scores[doc] = score * covered / whole if whole else 1.0
    return scores


def words_decide(evidence: float) -> bool:
    """Whether the words of a query answer it, so that the model is not needed."""
    return evidence >= _SURE


def fuse(
    words: Mapping[DocId, float], meaning: Mapping[DocId, float], evidence: float, documents: int
) -> dict[DocId, float]:
    """The sum of both sides in one unit: how unlikely it is that a place unrelated to the query is as good.

    ``told`` is the query's rarity in the best stretch of text (natural logarithms throughout), assigned to the best
    place by words; ``meaning`` comes from ``unlikelihood``. A score of one is reached by chance once among all
    documents. A fixed weight loses either exact or paraphrased queries (evidence.md, "Ranking"), and so does comparing
    raw scores: with ten times as many texts, common words match by chance ten times as often."""
    best = max(words.values(), default=0.0)
    share = _WORDS * evidence / best if best > 0 else 0.0
    once = math.log(max(documents, 2))
    return {doc: (share * words.get(doc, 0.0) + meaning.get(doc, 0.0)) / once for doc in {*words, *meaning}}


def unlikelihood(cosines: Mapping[DocId, float], spread: float, docs: Mapping[DocId, Outline]) -> dict[DocId, float]:
    """Negative logarithm of the probability of being that near by chance: cosines of unrelated texts are normally
    distributed around zero with this ``spread``. Places with the same passage count once: the newest one fully, reduced
    with each copy."""
    copies: dict[float, list[DocId]] = {}
    for doc, cosine in cosines.items():
        if cosine > 0:
            copies.setdefault(round(cosine, _SAME_DIGITS), []).append(doc)
    found: dict[DocId, float] = {}
    recency = _recencies(docs)
    for cosine, alike in copies.items():
        # Two-sided tail, so that no score begins at zero.
        worth = -math.log(max(math.erfc(cosine / spread / math.sqrt(2)), 1e-300))
        worth = max(0.0, worth - _COPIES * math.log(len(alike)))
        newest = max(alike, key=lambda doc: recency.get(doc, _GONE))
        found.update((doc, worth if doc == newest else _COPY * worth) for doc in alike)
    return found


def with_neighbours(
    store: TextStore, namespace: Namespace, scores: Mapping[DocId, float], docs: Mapping[DocId, Outline]
) -> dict[DocId, float]:
    """Each text gains from adjacent messages: an answer is next to its question."""
    recency = _recencies(docs)
    best = [
        doc
        for _, _, doc in nlargest(_EXPANDED, [(score, recency.get(doc, _GONE), doc) for doc, score in scores.items()])
    ]
    gained = dict(scores)
    for doc, around in store.neighbours(namespace, best, max(_NEIGHBOUR)).items():
        for other, distance in around:
            gained[other] = gained.get(other, 0.0) + _NEIGHBOUR[distance] * scores[doc]
    return gained


def order(scores: Mapping[DocId, float], kinds: Mapping[DocId, str], docs: Mapping[DocId, Outline]) -> list[Ranked]:
    """Best first; ties newest first. What is in no kind was added as a neighbour."""
    recency = _recencies(docs)
    best = sorted([(score, recency.get(doc, _GONE), doc) for doc, score in scores.items()], reverse=True)
    return [Ranked(doc, score, kinds.get(doc, "neighbour")) for score, _, doc in best]


def _recencies(docs: Mapping[DocId, Outline]) -> dict[DocId, int]:
    """Looked up once, since sorting needs them for hundreds."""
    return {doc: place.recency for doc, place in docs.items()}
