"""Searching sessions: from a query to sessions with their best places.

Owns the order of the steps and the query's time budget; each step is in its own module.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ovillo.model.clock import Clock
from ovillo.model.errors import InvalidInput, UpstreamError
from ovillo.model.limits import SEARCH_BUDGET_MS, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX
from ovillo.model.records import Namespace, SessionId
from ovillo.search.evidence import best_stretch, find_text, find_units
from ovillo.search.patterns import compile_pattern, literals
from ovillo.search.planner import gather
from ovillo.search.query import Query, parse_query
from ovillo.search.ranking import Ranked, by_session, corrected, fuse, meaning_weight, order, with_neighbours
from ovillo.search.results import Hit, SearchResult, SessionHits
from ovillo.search.snippets import snippet
from ovillo.search.units import Unit, UnitBuilder
from ovillo.sessions.cursors import decode_cursor, encode_cursor
from ovillo.sessions.views import Freshness, SessionSummary
from ovillo.settings import Settings
from ovillo.store.protocol import AllOf, AnyOf, Doc, DocFilter, DocId, IndexStats, Match, Order, Store

if TYPE_CHECKING:
    from ovillo.search.vectors import VectorIndex

#: Texts read to judge how well words alone answer the query.
_JUDGED = 12
_NEAREST = 200
_PATTERN_CANDIDATES = 3_000

Summaries = Callable[[Namespace, Sequence[SessionId]], dict[SessionId, SessionSummary]]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A query and its qualifiers given as parameters; both kinds may also stand in ``query`` (``agent:build``)."""

    query: str
    agent: str | None = None
    project: str | None = None
    source: str | None = None
    after: int | None = None
    before: int | None = None
    session: str | None = None
    limit: int = SEARCH_LIMIT_DEFAULT
    cursor: str | None = None
    #: Hits shown per session.
    hits_per_session: int = 3


@dataclass(slots=True)
class Ranking:
    """Places in order, before they are grouped and shown."""

    ranked: list[Ranked]
    units: Sequence[Unit] = ()
    #: Exact texts or patterns to mark, beside the units.
    mark: Callable[[str], list[tuple[int, int]]] | None = None
    kind: str = "words"
    scored: str = ""
    notes: tuple[str, ...] = ()
    cut: str | None = None


class Search:
    def __init__(
        self, store: Store, summaries: Summaries, freshness: Callable[[], Freshness], settings: Settings, clock: Clock
    ) -> None:
        self._store = store
        self._summaries = summaries
        self._freshness = freshness
        self._settings = settings
        self._clock = clock
        self._units = UnitBuilder(store)
        self._vectors: VectorIndex | None = None
        self._opening = threading.Lock()

    def search(self, namespace: Namespace, request: SearchRequest) -> SearchResult:
        """Sessions by relevance, each with its best places. Raises InvalidInput (bad regex, bad cursor, empty query)."""
        started = time.monotonic()
        if not 1 <= request.limit <= SEARCH_LIMIT_MAX:
            raise InvalidInput(f"limit is {request.limit}.", hint=f"It may be 1 to {SEARCH_LIMIT_MAX}.")
        offset = 0
        if request.cursor is not None:
            offset, of_query = decode_cursor("search", request.cursor, int, str)
            if of_query != request.query:
                raise InvalidInput("The cursor belongs to another query.", hint="Repeat the query it came with.")
        ranking = self.rank(namespace, request, started)
        docs = {doc.id: doc for doc in self._store.docs(namespace, [item.doc for item in ranking.ranked])}
        grouped = list(by_session(ranking.ranked, docs).items())
        page = grouped[offset : offset + request.limit]
        following = (
            encode_cursor("search", offset + request.limit, request.query)
            if len(grouped) > offset + request.limit
            else None
        )
        return SearchResult(
            sessions=self._show(namespace, page, docs, ranking, request.hits_per_session),
            next_cursor=following,
            scored=ranking.scored,
            notes=ranking.notes,
            cut=ranking.cut,
            embedded=self._embedded(namespace),
            elapsed_ms=round((time.monotonic() - started) * 1000, 1),
            freshness=self._freshness(),
        )

    def rank(self, namespace: Namespace, request: SearchRequest, started: float | None = None) -> Ranking:
        """Places in order of relevance, whatever session they stand in. Raises InvalidInput."""
        query = parse_query(request.query, self._clock())
        query = replace(query, where=_narrowed(query.where, request))
        deadline = (time.monotonic() if started is None else started) + SEARCH_BUDGET_MS / 1000
        if query.pattern is not None:
            return self._by_pattern(namespace, query, deadline)
        if query.is_empty:
            if query.where == DocFilter():
                raise InvalidInput(
                    "The query is empty.", hint='Give words, a "phrase", /a regex/ or a filter such as agent:build.'
                )
            return self._newest(namespace, query)
        return self._by_words(namespace, query, deadline)

    # --- the ways to search

    def _by_words(self, namespace: Namespace, query: Query, deadline: float) -> Ranking:
        units = self._units.of_words(namespace, query.words)
        must, notes = self._required(namespace, query)
        notes += [f"nothing holds {word!r}" for word in units.missing]
        notes += [f"{unit.word!r} was found inside longer words" for unit in units.found if unit.inside]
        stats = self._store.index_stats(namespace)
        plan = gather(
            self._store,
            namespace,
            units.found,
            query.where,
            must=must,
            drop=self._dropped(namespace, query),
            documents=stats.documents,
        )
        docs = {doc.id: doc for doc in self._store.docs(namespace, list(plan.scores))}
        words = corrected(plan.scores, docs, stats.average_length)
        if query.phrases:
            words = self._holding(namespace, words, query.phrases)
        evidence = self._evidence(namespace, words, units.found, len(units.missing), stats)
        weight = 0.0 if query.phrases or query.prefixes else meaning_weight(evidence)
        meaning = self._meaning(namespace, query, words) if weight else {}
        fused = fuse(words, meaning, weight if meaning else 0.0)
        if not query.phrases and not query.prefixes and time.monotonic() < deadline:
            fused = with_neighbours(self._store, namespace, fused)
            fused = self._allowed(namespace, fused, query.where)
        shares = f"words {1 - weight:.2f} + meaning {weight:.2f}" if meaning else "words only"
        marked = [*query.phrases, *query.prefixes]
        return Ranking(
            order(fused, words, meaning),
            units.found,
            (lambda text: [place for said in marked for place in find_text(text, said)]) if marked else None,
            kind="phrase" if query.phrases else "prefix" if query.prefixes else "words",
            scored=f"{'; '.join(dict.fromkeys(plan.scored))}; {shares}; neighbours" if plan.scored else shares,
            notes=tuple(notes),
        )

    def _by_pattern(self, namespace: Namespace, query: Query, deadline: float) -> Ranking:
        assert query.pattern is not None
        pattern = compile_pattern(query.pattern)
        candidates = self._texts_for(namespace, query)
        found: list[Ranked] = []
        looked = 0
        cut: str | None = None
        for doc, text in candidates:
            looked += 1
            if pattern.search(text):
                found.append(Ranked(doc, 1.0 / (1 + len(found)), "regex"))
            if time.monotonic() > deadline or len(found) >= 1_000:
                cut = (
                    f"stopped after {looked:,} texts, newest first; narrow it with project:, after: or longer literals"
                )
                break

        def mark(text: str) -> list[tuple[int, int]]:
            places = []
            for match in pattern.finditer(text):
                places.append(match.span())
                if len(places) >= 5:
                    break
            return places

        return Ranking(
            found, mark=mark, kind="regex", scored=f"regular expression, newest first, {looked:,} texts read", cut=cut
        )

    def _texts_for(self, namespace: Namespace, query: Query) -> Iterable[tuple[DocId, str]]:
        assert query.pattern is not None
        narrowing = [
            match
            for literal in ([] if query.pattern.startswith("(?") else literals(query.pattern))
            if (match := self._units.of_fragment(namespace, literal)) is not None
        ]
        if query.words:
            narrowing += [unit.match for unit in self._units.of_words(namespace, query.words).found]
        if not narrowing:
            yield from self._store.scan_texts(namespace, query.where)
            return
        hits = self._store.match(
            namespace, AllOf(tuple(narrowing)), query.where, _PATTERN_CANDIDATES, order=Order.NEWEST
        )
        for start in range(0, len(hits), 50):
            ids = [hit.doc for hit in hits[start : start + 50]]
            texts = self._store.doc_texts(namespace, ids)
            yield from ((doc, texts[doc]) for doc in ids if doc in texts)

    def _newest(self, namespace: Namespace, query: Query) -> Ranking:
        found: list[Ranked] = []
        for doc, _ in self._store.scan_texts(namespace, query.where):
            found.append(Ranked(doc, 1.0 / (1 + len(found)), "newest"))
            if len(found) >= 500:
                break
        return Ranking(found, kind="newest", scored="newest first")

    # --- pieces

    def _required(self, namespace: Namespace, query: Query) -> tuple[list[Match], list[str]]:
        must: list[Match] = []
        notes: list[str] = []
        for phrase in query.phrases:
            units = self._units.of_words(namespace, (phrase,))
            must += [unit.match for unit in units.found]
            notes += [f"nothing holds {word!r}" for word in units.missing]
        for prefix in query.prefixes:
            unit = self._units.beginning_with(namespace, prefix)
            if unit is None:
                notes.append(f"nothing begins with {prefix!r}")
            else:
                must.append(unit.match)
        return ([AllOf(tuple(must))] if len(must) > 1 else must), notes

    def _dropped(self, namespace: Namespace, query: Query) -> Match | None:
        drops: list[Match] = []
        for excluded in query.excluded:
            units = self._units.of_words(namespace, (excluded,)).found
            if units:
                drops.append(AllOf(tuple(unit.match for unit in units)) if len(units) > 1 else units[0].match)
        return None if not drops else drops[0] if len(drops) == 1 else AnyOf(tuple(drops))

    def _holding(
        self, namespace: Namespace, scores: dict[DocId, float], phrases: tuple[str, ...]
    ) -> dict[DocId, float]:
        """Those whose text holds every phrase as it was written, accents and case aside."""
        texts = self._store.doc_texts(namespace, list(scores))
        return {doc: scores[doc] for doc, text in texts.items() if all(find_text(text, said, 1) for said in phrases)}

    def _evidence(
        self, namespace: Namespace, words: dict[DocId, float], units: Sequence[Unit], missing: int, stats: IndexStats
    ) -> float:
        """Share of the query's rarity that the best stretch of the best texts holds, 0..1."""
        if not units:
            return 0.0
        weights = [unit.weight(stats.documents) for unit in units]
        whole = sum(weights) + missing * max(weights)
        best = sorted(words, key=words.__getitem__, reverse=True)[:_JUDGED]
        texts = self._store.doc_texts(namespace, best).values()
        return (
            max((best_stretch(find_units(text, units), weights)[0] for text in texts), default=0.0) / whole
            if whole
            else 0.0
        )

    def _meaning(self, namespace: Namespace, query: Query, words: dict[DocId, float]) -> dict[DocId, float]:
        index = self._vector_index()
        if index is None:
            return {}
        try:
            vector = index.query_vector(" ".join((*query.words, *query.phrases)))
        except UpstreamError:
            return {}
        if vector is None:
            return {}
        near = index.nearest(namespace, vector, _NEAREST)
        if query.where != DocFilter():
            near = {doc: near[doc] for doc in self._store.allowed(namespace, list(near), query.where)}
        return {**index.cosines(vector, [doc for doc in words if doc not in near]), **near}

    def _allowed(self, namespace: Namespace, scores: dict[DocId, float], where: DocFilter) -> dict[DocId, float]:
        if where == DocFilter():
            return scores
        kept = self._store.allowed(namespace, list(scores), where)
        return {doc: score for doc, score in scores.items() if doc in kept}

    def _vector_index(self) -> VectorIndex | None:
        """Opened at the first query whose words are not evidence enough: loading takes a third of a second."""
        if self._vectors is None and self._settings.embedder != "none":
            with self._opening:
                if self._vectors is None:
                    from ovillo.search.embedders import open_embedder  # start-up cost
                    from ovillo.search.vectors import VectorIndex  # start-up cost

                    embedder = open_embedder(self._settings)
                    self._vectors = None if embedder is None else VectorIndex(self._store, embedder)
        return self._vectors

    def _embedded(self, namespace: Namespace) -> float | None:
        if self._settings.embedder == "none":
            return None
        name = {"minilm": "minilm-l6-v2-int8"}.get(self._settings.embedder, f"openai:{self._settings.embedder_model}")
        done, eligible = self._store.embedding_share(namespace, name)
        return round(done / eligible, 3) if eligible else 1.0

    # --- showing

    def _show(
        self,
        namespace: Namespace,
        page: list[tuple[str, list[Ranked]]],
        docs: dict[DocId, Doc],
        ranking: Ranking,
        per_session: int,
    ) -> tuple[SessionHits, ...]:
        shown = [item for _, items in page for item in items[:per_session]]
        texts = self._store.doc_texts(namespace, [item.doc for item in shown])
        summaries = self._summaries(namespace, [SessionId(session_id) for session_id, _ in page])
        result = []
        for session_id, items in page:
            summary = summaries.get(SessionId(session_id))
            if summary is None:
                continue
            hits = tuple(_hit(item, docs[item.doc], texts.get(item.doc, ""), ranking) for item in items[:per_session])
            result.append(SessionHits(summary, round(items[0].score, 4), hits, max(0, len(items) - per_session)))
        return tuple(result)


def _hit(item: Ranked, doc: Doc, text: str, ranking: Ranking) -> Hit:
    found = find_units(text, ranking.units) if ranking.units else []
    places = [(place.start, place.end) for place in found]
    at = 0
    if ranking.mark is not None:
        extra = ranking.mark(text)
        places += extra
        at = extra[0][0] if extra else 0
    elif found:
        at = best_stretch(found, [1.0] * len(ranking.units))[1]
    shown, highlights = snippet(text, places, at)
    found_by = "title" if doc.part_id is None else item.by if item.by in ("meaning", "neighbour") else ranking.kind
    if found_by == "words" and any(unit.inside for unit in ranking.units):
        found_by = "substring"
    return Hit(
        message_id=doc.message_id,
        part_id=doc.part_id,
        position=doc.message_seq,
        role=doc.role.value,
        part_type=doc.type.value if doc.type else "title",
        tool=doc.tool_name,
        created_at=doc.created_at,
        snippet=shown,
        highlights=highlights,
        score=round(item.score, 4),
        found_by=found_by,
    )


def _narrowed(where: DocFilter, request: SearchRequest) -> DocFilter:
    session = replace(
        where.session,
        agent=request.agent or where.session.agent,
        project=request.project or where.session.project,
        source=request.source or where.session.source,
        session_ids=(SessionId(request.session),) if request.session else where.session.session_ids,
    )
    return replace(
        where,
        session=session,
        after=request.after if request.after is not None else where.after,
        before=request.before if request.before is not None else where.before,
    )
