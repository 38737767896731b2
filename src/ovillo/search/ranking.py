"""From candidates to an order: words, meaning and neighbours, each weighed by the query's own evidence.

Owns the scores. Evidence for the numbers: evidence.md, "Ranking" (length normalisation of dialogue,
neighbouring turns, and that no fixed weight of vectors serves both exact and paraphrased queries), and ``bench``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ovillo.model.records import Namespace, PartType
from ovillo.search.planner import TermCounts
from ovillo.search.ranked import Ranked
from ovillo.store.protocol import Doc, DocId

if TYPE_CHECKING:
    from ovillo.store.protocol import TextStore

_K1 = 1.2
#: Length counts little in dialogue, a lot in code and tool output (evidence.md, "Ranking").
_B_SAID, _B_TOOL = 0.3, 0.75
#: Gain from the next message and the next but one. The measurement had .5 and .25; with coverage in the score, less is better.
_NEIGHBOUR = {1: 0.25, 2: 0.125}
#: Documents whose neighbours are looked up.
_EXPANDED = 60
#: Share of the query that the best place must hold for words to decide alone.
_SURE = 0.97
#: What a cosine of 1 is worth beside a place that holds all words.
_MEANING = 2.0
#: What a session's best three places together add to each of its places.
_SESSION, _SESSION_PLACES = 0.25, 3

#: A document that is gone meanwhile counts as the oldest.
_GONE = 0

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION, None)


def lexical(
    found: Mapping[DocId, TermCounts],
    weights: Sequence[float],
    missing: float,
    average: float,
    docs: Mapping[DocId, Doc],
) -> dict[DocId, float]:
    """BM25 of each document times the share of the query (by rarity) that it holds.

    ``missing`` is the rarity of words that no document holds. Documents not in ``docs`` count as tool output."""
    whole = sum(weights) + missing
    scores: dict[DocId, float] = {}
    for doc, held in found.items():
        place = docs.get(doc)
        b = _B_SAID if place is not None and place.type in _SAID and not place.synthetic else _B_TOOL
        norm = _K1 * (1 - b + b * held.length / average) if average else _K1
        score = covered = 0.0
        for index, times in held.times.items():
            score += weights[index] * times * (_K1 + 1) / (times + norm)
            covered += weights[index]
        scores[doc] = score * covered / whole if whole else 1.0
    return scores


def words_decide(evidence: float) -> bool:
    """Whether the words of a query answer it, so that the model need not be asked."""
    return evidence >= _SURE


def fuse(words: Mapping[DocId, float], meaning: Mapping[DocId, float], evidence: float) -> dict[DocId, float]:
    """Sum of both sides, each as large as its own evidence: words as the share of the query that the best place
    holds, meaning as the square of its cosine.

    A fixed weight loses either exact or paraphrased queries (evidence.md, "Ranking"); a cosine of .6 says a lot, one of .3
    next to nothing, whatever the others are."""
    best = max(words.values(), default=0.0)
    share = (evidence if meaning else 1.0) / best if best > 0 else 0.0
    return {
        doc: share * words.get(doc, 0.0) + _MEANING * max(0.0, meaning.get(doc, 0.0)) ** 2 for doc in {*words, *meaning}
    }


def with_neighbours(
    store: TextStore, namespace: Namespace, scores: Mapping[DocId, float], docs: Mapping[DocId, Doc]
) -> dict[DocId, float]:
    """Each text gains from what was said next to it: an answer lies beside its question."""
    recency = _recencies(docs)
    best = sorted(scores, key=lambda doc: (-scores[doc], -recency.get(doc, _GONE)))[:_EXPANDED]
    gained = dict(scores)
    for doc, around in store.neighbours(namespace, best, max(_NEIGHBOUR)).items():
        for other, distance in around:
            gained[other] = gained.get(other, 0.0) + _NEIGHBOUR[distance] * scores[doc]
    return gained


def with_sessions(
    gained: Mapping[DocId, float], scores: Mapping[DocId, float], docs: Mapping[DocId, Doc]
) -> dict[DocId, float]:
    """Each place gains from the best places (by ``scores``) of its session: a session about the matter is likelier."""
    best: dict[str, list[float]] = {}
    for doc, score in scores.items():
        if doc in docs:
            best.setdefault(docs[doc].session_id, []).append(score)
    mean = {
        session_id: sum(sorted(values, reverse=True)[:_SESSION_PLACES]) / _SESSION_PLACES
        for session_id, values in best.items()
    }
    return {
        doc: score + (_SESSION * mean.get(docs[doc].session_id, 0.0) if doc in docs else 0.0)
        for doc, score in gained.items()
    }


def order(scores: Mapping[DocId, float], kinds: Mapping[DocId, str], docs: Mapping[DocId, Doc]) -> list[Ranked]:
    """Best first; equal scores newest first. What is in no kind came as a neighbour."""
    recency = _recencies(docs)
    return [
        Ranked(doc, score, kinds.get(doc, "neighbour"))
        for doc, score in sorted(scores.items(), key=lambda item: (-item[1], -recency.get(item[0], _GONE)))
    ]


def _recencies(docs: Mapping[DocId, Doc]) -> dict[DocId, int]:
    """Looked up once, since sorting asks for each of hundreds."""
    return {doc: place.recency for doc, place in docs.items()}
