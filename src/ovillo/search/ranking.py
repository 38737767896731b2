"""From candidates to an order: length, neighbours, meaning, each weighed by the query's own evidence.

Owns the scores. Evidence for the numbers: retrieval study, sections 2 and 6 (length normalisation of dialogue,
neighbouring turns, and that no fixed weight of vectors serves both exact and paraphrased queries).
"""

from __future__ import annotations

from collections.abc import Mapping

from ovillo.model.records import Namespace, PartType
from ovillo.search.ranked import Ranked
from ovillo.store.protocol import Doc, DocId, Scored, Store

_K1 = 1.2
#: FTS5 normalises length with b = .75, right for code and tool output; dialogue is found better with .3.
_B_GIVEN, _B_SAID = 0.75, 0.3
_NEIGHBOUR = {1: 0.5, 2: 0.25}
#: Documents whose neighbours are looked up.
_EXPANDED = 80
#: Evidence at which words alone decide, and below which meaning leads; between them the weight is a straight line.
_SURE, _UNSURE = 0.85, 0.35
_MOST = 0.8

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION, None)


def corrected(scores: Mapping[DocId, Scored], docs: Mapping[DocId, Doc], average: float) -> dict[DocId, float]:
    """BM25 with the length normalisation of dialogue for what was said (exact where a word occurs once)."""
    result: dict[DocId, float] = {}
    for doc, hit in scores.items():
        place = docs.get(doc)
        if place is None:
            continue
        length = hit.length / average if average else 1.0
        if place.type in _SAID and not place.synthetic:
            given = 1 + _K1 * (1 - _B_GIVEN + _B_GIVEN * length)
            said = 1 + _K1 * (1 - _B_SAID + _B_SAID * length)
            result[doc] = hit.score * given / said
        else:
            result[doc] = hit.score
    return result


def meaning_weight(evidence: float) -> float:
    """Weight of the vectors for a query whose best text holds this share of its words' rarity, close together."""
    if evidence >= _SURE:
        return 0.0
    return _MOST * min(1.0, (_SURE - evidence) / (_SURE - _UNSURE))


def fuse(words: Mapping[DocId, float], meaning: Mapping[DocId, float], weight: float) -> dict[DocId, float]:
    """Weighted sum, each side scaled to 0..1 within the candidates."""
    words, meaning = _scaled(words, from_zero=True), _scaled(meaning, from_zero=False)
    docs = {*words, *meaning} if weight else set(words)
    return {doc: (1 - weight) * words.get(doc, 0.0) + weight * meaning.get(doc, 0.0) for doc in docs}


def with_neighbours(store: Store, namespace: Namespace, scores: Mapping[DocId, float]) -> dict[DocId, float]:
    """Each text gains from what was said next to it: an answer lies beside its question."""
    best = sorted(scores, key=lambda doc: (-scores[doc], -doc))[:_EXPANDED]
    gained = dict(scores)
    for doc, around in store.neighbours(namespace, best, max(_NEIGHBOUR)).items():
        for other, distance in around:
            gained[other] = gained.get(other, 0.0) + _NEIGHBOUR[distance] * scores[doc]
    return gained


def order(scores: Mapping[DocId, float], kinds: Mapping[DocId, str]) -> list[Ranked]:
    """Best first; equal scores newest first. What is in no kind came as a neighbour."""
    return [
        Ranked(doc, score, kinds.get(doc, "neighbour"))
        for doc, score in sorted(scores.items(), key=lambda item: (-item[1], -item[0]))
    ]


def _scaled(scores: Mapping[DocId, float], *, from_zero: bool) -> dict[DocId, float]:
    if not scores:
        return {}
    low = 0.0 if from_zero else min(scores.values())
    span = max(scores.values()) - low
    return {doc: (score - low) / span if span > 0 else 1.0 for doc, score in scores.items()}
