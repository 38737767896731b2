"""Answering ``get_context``: resolve, expand, gather, and fit into the budget, or abstain.

Owns the order of these steps and the decision whether what was found is good enough. Thresholds by kind of question are
those of MCP-HUB v5.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ovillo.model.errors import InvalidInput, OvilloError
from ovillo.model.quoting import named, quoted, said
from ovillo.model.records import Namespace, SessionId
from ovillo.references.context import gathering
from ovillo.references.context.answer import ContextAnswer, Item, Provenance, ResolvedEntity
from ovillo.references.context.fitting import fitted
from ovillo.references.context.pending import PendingAnswer, PendingSessions, asked_for
from ovillo.references.context.wording import Wording
from ovillo.sessions.languages import identify
from ovillo.sessions.tokens import count_tokens

if TYPE_CHECKING:
    from ovillo.code.service import CodeIndex
    from ovillo.search.service import Search
    from ovillo.sessions.history import History

MAX_QUERY_CHARS = 4_000
DEFAULT_TOKENS = 2_000
MIN_TOKENS, MAX_TOKENS = 100, 20_000
_FILE_TYPES = frozenset({"file", "module"})
#: Pieces worth less than this share of the best one say nothing more.
_LEAST_SHARE = 0.35


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """What resolution made of a query within a session."""

    language: str
    entities: tuple[ResolvedEntity, ...]
    expanded_query: str
    #: The query with the names in the place of what refers to them.
    plain_query: str


#: Resolves the references of a query against a session. Raises NotFound.
Resolve = Callable[[Namespace, str, SessionId], ResolvedQuery]
#: Documents about a query: pieces, and the threshold and kind of the question.
Documents = Callable[[Namespace, str], "DocumentsFound"]
#: Definitions that words describe, best first, with their worth 0..1.
FindSymbols = Callable[[Namespace, str], Sequence[tuple[Any, float]]]


@dataclass(frozen=True, slots=True)
class DocumentsFound:
    items: tuple[Item, ...]
    confidence: float
    threshold: float
    question_type: str


class ContextService:
    def __init__(
        self,
        resolve: Resolve,
        search: Search,
        history: History,
        code: CodeIndex,
        find_symbols: FindSymbols,
        documents: Documents,
        pending: PendingSessions,
    ) -> None:
        self._resolve = resolve
        self._search = search
        self._history = history
        self._code = code
        self._find_symbols = find_symbols
        self._documents = documents
        self._pending = pending

    def get_context(
        self,
        namespace: Namespace,
        query: str,
        session_id: SessionId | None = None,
        *,
        resolve_references: bool = True,
        max_tokens: int = DEFAULT_TOKENS,
        top_k: int | None = None,
        min_score: float | None = None,
    ) -> ContextAnswer:
        """What answers the query, best first, within ``max_tokens``. Without a session it is the stateless retrieval of v5.

        ``top_k`` pieces at most; ``min_score`` (0 to 1) stands in for the threshold of the kind of question.
        Raises InvalidInput, and NotFound for a session that does not exist."""
        began = time.monotonic()
        asked = " ".join(query.split())
        if not asked:
            raise InvalidInput("The query is empty.", hint="Ask something.")
        if len(asked) > MAX_QUERY_CHARS:
            raise InvalidInput(f"The query has {len(asked)} characters.", hint=f"{MAX_QUERY_CHARS} at most.")
        if not MIN_TOKENS <= max_tokens <= MAX_TOKENS:
            raise InvalidInput(f"max_tokens is {max_tokens}.", hint=f"It may be {MIN_TOKENS} to {MAX_TOKENS}.")
        resolved = ResolvedQuery(identify([asked]).code, (), asked, asked)
        if session_id is not None and resolve_references:
            resolved = self._without_guesses(namespace, asked, self._resolve(namespace, asked, session_id))
        gathered = _Gathered(Wording(resolved.language))
        self._about_references(namespace, session_id, resolved, gathered)
        found = self._documents(namespace, resolved.expanded_query)
        if not gathered.question:
            self._across_sessions(namespace, resolved.expanded_query, gathered)
            gathered.items += found.items
            if not gathered.answers:
                self._described(namespace, resolved, gathered)
                self._said(namespace, session_id, resolved, gathered, asked)
        if min_score is not None:
            found = replace(found, threshold=min_score)
        answer = self._answer(asked, resolved, gathered, found, max_tokens, top_k)
        return replace(answer, elapsed_ms=round((time.monotonic() - began) * 1000, 1))

    def _without_guesses(self, namespace: Namespace, asked: str, resolved: ResolvedQuery) -> ResolvedQuery:
        """A function that the code has by this description beats one that the session merely named."""
        guessed = {name for x in resolved.entities if x.is_guess for name in x.names}
        described = {symbol.name for symbol, _ in self._find_symbols(namespace, asked)} if guessed else set()
        if not described or guessed & described:
            return resolved
        kept = tuple(x for x in resolved.entities if not x.is_guess)
        return ResolvedQuery(resolved.language, kept, asked, asked)

    # --- gathering

    def _about_references(
        self, namespace: Namespace, session_id: SessionId | None, resolved: ResolvedQuery, gathered: _Gathered
    ) -> None:
        """The source of what each reference means; the question to ask back for one that means several things."""
        is_clear = any(x.status == "resolved" for x in resolved.entities)
        for reference in resolved.entities:
            if reference.status == "ambiguous" and is_clear:
                # What else was asked can be answered; this is said beside it.
                gathered.notes.append(gathered.wording.which(reference.text, reference.names))
            elif reference.status == "ambiguous":
                gathered.question = gathered.question or gathered.wording.which(reference.text, reference.names)
            elif reference.status == "none" and not reference.is_described:
                gathered.unresolved.append(reference.text)
            for name in reference.names if reference.status == "resolved" else ():
                gathered.confidence = max(gathered.confidence, reference.confidence)
                item = self._source(namespace, name, reference)
                place = None
                if item is not None:
                    gathered.items.append(item)
                    lines = item.provenance.lines
                    place = (item.provenance.file or "", *lines) if lines else None
                if place is not None or reference.text.casefold() != name.casefold():
                    gathered.sentences.append(
                        gathered.wording.means(reference.text, reference.type, name, place, reference.mentioned_number)
                    )
            if session_id is not None and reference.mentioned_in and reference.status == "resolved":
                said_by = SessionId(reference.session_id or session_id)
                said = gathering.message_item(
                    self._history, namespace, said_by, reference.mentioned_in, 0.75, gathered.wording
                )
                if said is not None:
                    gathered.items.append(said)
        if not is_clear and gathered.unresolved and not gathered.question:
            gathered.question = gathered.wording.which(gathered.unresolved[0], ())

    def _source(self, namespace: Namespace, name: str, reference: ResolvedEntity) -> Item | None:
        worth = max(0.8, reference.confidence)
        if reference.type in _FILE_TYPES:
            return gathering.file_item(self._code, namespace, name, worth)
        symbol = gathering.symbol_in(self._code, namespace, name, reference.file)
        if symbol is not None:
            return gathering.code_item(self._code, namespace, symbol, worth)
        if reference.file and reference.lines:
            return gathering.line_item(self._code, namespace, reference.file, reference.lines[0], worth)
        return None

    def _across_sessions(self, namespace: Namespace, query: str, gathered: _Gathered) -> None:
        asked = asked_for(query)
        if asked is None:
            return
        try:
            found = self._pending.find(namespace, asked)
        except OvilloError:
            return
        gathered.add_pending(found)

    def _described(self, namespace: Namespace, resolved: ResolvedQuery, gathered: _Gathered) -> None:
        """Definitions that the words describe; few, since each is shown with its source."""
        have = {item.provenance.id for item in gathered.items}
        for symbol, worth in self._find_symbols(namespace, resolved.expanded_query):
            item = gathering.code_item(self._code, namespace, symbol, worth)
            if item is not None and item.provenance.id not in have:
                gathered.items.append(item)

    def _said(
        self,
        namespace: Namespace,
        session_id: SessionId | None,
        resolved: ResolvedQuery,
        gathered: _Gathered,
        asked: str,
    ) -> None:
        shown = {item.provenance.id for item in gathered.items}
        items, best, cut = gathering.found_items(
            self._search, namespace, resolved.plain_query, gathered.wording, session=None, skip=shown, asked=asked
        )
        gathered.items += items
        gathered.confidence = max(gathered.confidence, best)
        gathered.session_used |= any(item.provenance.session_id == session_id for item in items)
        if cut:
            gathered.notes.append(cut)

    # --- the answer

    def _answer(
        self,
        asked: str,
        resolved: ResolvedQuery,
        gathered: _Gathered,
        documents: DocumentsFound,
        max_tokens: int,
        top_k: int | None,
    ) -> ContextAnswer:
        confidence = round(min(1.0, max([gathered.confidence, documents.confidence, gathered.best])), 3)
        threshold = documents.threshold
        means_something = any(x.status == "resolved" for x in resolved.entities) or gathered.answers
        abstained = bool(gathered.question) or not (means_something or confidence >= threshold)
        wording = gathered.wording
        if abstained:
            question = gathered.question or wording.nothing()
            content = question
            shown: tuple[Provenance, ...] = ()
            left = len(gathered.items)
            if not gathered.question and gathered.items:
                # Below the threshold what was found is still offered, as what it is.
                content, shown, left = fitted([question], gathered.ranked()[:top_k], max_tokens)
            why = "ambiguous reference" if gathered.question else f"confidence {confidence} is below {threshold}"
        else:
            question, why = "", None
            content, shown, left = fitted(gathered.sentences, gathered.ranked()[:top_k], max_tokens)
        used = gathered.session_used or any(x.status != "none" for x in resolved.entities)
        return ContextAnswer(
            query=asked,
            expanded_query=resolved.expanded_query,
            content=content,
            resolved=resolved.entities,
            session_context_used=used,
            provenance=tuple(shown),
            confidence=confidence,
            threshold=threshold,
            question_type=documents.question_type,
            abstained=abstained,
            why=why,
            question=question or None,
            tokens=count_tokens(content),
            max_tokens=max_tokens,
            elapsed_ms=0.0,
            left_out=left,
            notes=tuple(gathered.notes),
        )


class _Gathered:
    def __init__(self, wording: Wording) -> None:
        self.wording = wording
        self.sentences: list[str] = []
        self.items: list[Item] = []
        self.unresolved: list[str] = []
        self.notes: list[str] = []
        self.question: str | None = None
        self.confidence = 0.0
        self.session_used = False
        #: Something was found that answers by itself, whatever the scores.
        self.answers = False

    @property
    def best(self) -> float:
        return max((item.worth for item in self.items), default=0.0)

    def ranked(self) -> list[Item]:
        """Best first, without what is worth too little beside the best."""
        least = self.best * _LEAST_SHARE
        kept = {item.provenance.id: item for item in sorted(self.items, key=lambda x: x.worth) if item.worth >= least}
        return sorted(kept.values(), key=lambda item: -item.worth)

    def add_pending(self, found: PendingAnswer) -> None:
        self.answers = bool(found.open) or found.done > 0
        for session in found.open:
            about = session.summary.session
            self.sentences.append(self.wording.pending(about.id, session.summary.title, about.status.value))
            if session.affects:
                affected = [f"{said(title)} ({named(other)})" for other, title, _ in session.affects]
                self.sentences.append(self.wording.affects(affected))
            place = Provenance("session", about.id, 0.9, about.id, at=about.updated_at)
            head = f"{self.wording.said(about.id, None)} {said(session.summary.title)}"
            text = f"{head}\n{quoted(' '.join(session.snippet.split()))}"
            self.items.append(Item(text, place, 0.9))
        if not found.open and found.done:
            self.sentences.append(self.wording.none_pending(found.done))
