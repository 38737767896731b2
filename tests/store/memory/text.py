"""The text index: every question looks at every document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple, assert_never

from ovillo.model.records import Message, Namespace, Part, PartType, Role, SessionId
from ovillo.store.documents import TITLE, WEIGHTS, length_norm, voice_of
from ovillo.store.protocol import (
    AllOf,
    AnyOf,
    Doc,
    DocFilter,
    DocId,
    Except,
    IndexStats,
    Match,
    Matched,
    Order,
    Outline,
    Phrase,
    Prefix,
    Term,
)
from tests.store.memory.filters import asks_for_parts, part_passes, passes
from tests.store.memory.state import Document, Space, StoredSession
from tests.store.memory.substore import SubStore

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION, PartType.TODO)


class Place(NamedTuple):
    """A document and where it stands; a title's is in no message."""

    document: Document
    kept: StoredSession
    message: Message | None = None
    part: Part | None = None


def places(space: Space, where: DocFilter | None = None) -> Iterator[Place]:
    where = where or DocFilter()
    for kept in space.sessions.values():
        if not passes(kept, where.session):
            continue
        if None in kept.documents and not asks_for_parts(where):
            yield Place(kept.documents[None], kept)
        for message, part, document in kept.parts():
            if part_passes(message, part, where):
                yield Place(document, kept, message, part)


class Text(SubStore):
    def stats(self, namespace: Namespace) -> IndexStats:
        lengths = [len(terms) for terms in self._terms(namespace)]
        return IndexStats(len(lengths), sum(lengths) / len(lengths) if lengths else 0.0)

    def document_frequency(self, namespace: Namespace, terms: Iterable[str]) -> dict[str, int]:
        counts = self._frequencies(namespace)
        return {term: counts[term] for term in terms}

    def terms_with_prefix(self, namespace: Namespace, prefix: str, limit: int) -> list[tuple[str, int]]:
        counts = self._frequencies(namespace)
        return sorted((term, count) for term, count in counts.items() if term.startswith(prefix))[:limit]

    def surfaces_containing(self, namespace: Namespace, fragment: str, limit: int) -> list[tuple[str, str]]:
        return [pair for pair in self._surfaces(namespace) if fragment in pair[0]][:limit]

    def surface_terms(self, namespace: Namespace, surfaces: Iterable[str]) -> dict[str, tuple[str, ...]]:
        pairs = self._surfaces(namespace)
        found = {each: tuple(term for surface, term in pairs if surface == each) for each in surfaces}
        return {surface: terms for surface, terms in found.items() if terms}

    def match(
        self,
        namespace: Namespace,
        expression: Match,
        where: DocFilter,
        limit: int,
        *,
        order: Order = Order.DENSEST,
        newest: int | None = None,
    ) -> list[Matched]:
        found = [place for place in places(self._state.space(namespace), where) if place.document.terms]
        found.sort(key=lambda place: -place.document.recency)
        found = [place for place in found[:newest] if _matches(place.document.terms, expression)]
        if order is Order.DENSEST:
            found.sort(key=lambda place: -_times(place, expression) / len(place.document.terms))
        asked = expression.keep if isinstance(expression, Except) else expression
        is_counted = order is Order.DENSEST and isinstance(asked, Term)
        average = self.stats(namespace).average_length
        return [
            Matched(
                place.document.id,
                place.document.recency,
                (_times(place, asked) if is_counted else 1.0) / length_norm(len(place.document.terms), average),
            )
            for place in found[:limit]
        ]

    def allowed(self, namespace: Namespace, ids: Sequence[DocId], where: DocFilter) -> set[DocId]:
        return {place.document.id for place in places(self._state.space(namespace), where)} & set(ids)

    def docs(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Doc]:
        found = {place.document.id: place for place in places(self._state.space(namespace))}
        return [_doc(found[doc]) for doc in ids if doc in found]

    def outlines(self, namespace: Namespace, ids: Sequence[DocId]) -> list[Outline]:
        return [
            Outline(
                doc.id,
                doc.recency,
                doc.session_id,
                doc.type,
                doc.synthetic,
                doc.tool_name,
                doc.length if doc.part_id is not None else 0,
            )
            for doc in self.docs(namespace, ids)
        ]

    def doc_texts(self, namespace: Namespace, ids: Sequence[DocId]) -> dict[DocId, str]:
        texts = {place.document.id: place.document.text for place in places(self._state.space(namespace))}
        return {doc: texts[doc] for doc in ids if doc in texts}

    def neighbours(
        self, namespace: Namespace, ids: Sequence[DocId], distance: int
    ) -> dict[DocId, list[tuple[DocId, int]]]:
        found: dict[DocId, list[tuple[DocId, int]]] = {doc: [] for doc in ids}
        for place in places(self._state.space(namespace)):
            if place.message and place.document.id in found:
                found[place.document.id] = list(_beside(place.kept, place.message, distance))
        return found

    def said_around(self, namespace: Namespace, session_id: SessionId, seq: int, before: int, after: int) -> list[Doc]:
        said = [
            _doc(place)
            for place in places(self._state.space(namespace))
            if str(place.kept.session.id) == session_id
            and place.part
            and place.part.type in _SAID
            and place.document.terms
        ]
        said.sort(key=lambda doc: (doc.message_seq, doc.part_seq))
        earlier = [doc for doc in said if doc.message_seq < seq]
        return earlier[max(0, len(earlier) - before) :] + [doc for doc in said if doc.message_seq >= seq][:after]

    def scan_texts(self, namespace: Namespace, where: DocFilter) -> Iterator[tuple[DocId, str]]:
        said = [place.document for place in places(self._state.space(namespace), where) if place.part]
        for document in sorted(said, key=lambda document: -document.recency):
            if document.terms:
                yield document.id, document.text

    # --- keeping it current

    def catch_up(self) -> int:
        return 0

    def is_current(self) -> bool:
        return True

    def rebuild(self) -> None:
        with self._state.writing() as tables:
            for space in tables.spaces.values():
                for kept in space.sessions.values():
                    kept.documents = {
                        part_id: self._state.document(document, document.text)
                        for part_id, document in kept.documents.items()
                    }

    def _terms(self, namespace: Namespace) -> list[tuple[str, ...]]:
        return [terms for place in places(self._state.space(namespace)) if (terms := place.document.terms)]

    def _frequencies(self, namespace: Namespace) -> Counter[str]:
        return Counter(term for terms in self._terms(namespace) for term in set(terms))

    def _surfaces(self, namespace: Namespace) -> list[tuple[str, str]]:
        return sorted({pair for place in places(self._state.space(namespace)) for pair in place.document.surfaces})


def _matches(terms: Sequence[str], match: Match) -> bool:
    match match:
        case Term(text):
            return text in terms
        case Prefix(text):
            return any(term.startswith(text) for term in terms)
        case Phrase(asked, prefix):
            return _has_phrase(terms, asked, str.startswith if prefix else str.__eq__)
        case AllOf(items):
            return all(_matches(terms, item) for item in items)
        case AnyOf(items):
            return any(_matches(terms, item) for item in items)
        case Except(keep, drop):
            return _matches(terms, keep) and not _matches(terms, drop)
        case _:
            assert_never(match)


def _has_phrase(terms: Sequence[str], asked: tuple[str, ...], ends: Callable[[str, str], bool]) -> bool:
    windows = zip(*(terms[start:] for start in range(len(asked))), strict=False)
    return any(window[:-1] == asked[:-1] and ends(window[-1], asked[-1]) for window in windows)


def _times(place: Place, match: Match) -> float:
    """How often what was asked for stands in it, by whose words they are."""
    voice = voice_of(place.part, place.message) if place.part and place.message else TITLE
    return WEIGHTS[voice] * sum(_matches((term,), match) for term in place.document.terms)


def _beside(kept: StoredSession, message: Message, distance: int) -> Iterator[tuple[DocId, int]]:
    own = kept.in_order()
    at = own.index(message)
    for step in range(1, distance + 1):
        for other in (own[at - step] if at >= step else None, own[at + step] if at + step < len(own) else None):
            for part in other.parts if other else ():
                document = kept.documents[part.id]
                if part.type in (PartType.TEXT, PartType.REASONING) and not part.synthetic and document.terms:
                    yield document.id, step


def _doc(place: Place) -> Doc:
    session, message, part = place.kept.session, place.message, place.part
    at = session.updated_at or session.created_at
    if message and part:
        at = part.created_at or message.created_at
    return Doc(
        id=place.document.id,
        recency=place.document.recency,
        session_id=session.id,
        message_id=message.id if message else None,
        part_id=part.id if part else None,
        message_seq=message.seq if message else -1,
        part_seq=part.seq if part else 0,
        role=message.role if message else Role.USER,
        type=part.type if part else None,
        synthetic=part.synthetic if part else False,
        tool_name=part.tool.name if part and part.tool else None,
        created_at=at,
        length=len(place.document.terms),
    )
