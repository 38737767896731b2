"""Questions across sessions: "is there any pending bug about payment validation?"

Owns telling such a question, in four languages, and the sessions that answer it with what else they affect. Which words
mean *pending* and *bug* is grammar of the languages, kept in this table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ovillo.model.records import Namespace, SessionId, SessionStatus, SessionType

if TYPE_CHECKING:
    from ovillo.search.service import Search
    from ovillo.sessions.link_proposals import LinkProposals
    from ovillo.sessions.links import LinkService
    from ovillo.sessions.views import SessionSummary

_KINDS = {
    SessionType.BUGFIX: (
        r"bugs?|errors?|defects?|failures?|problems?|issues?|crash(?:es)?|fix(?:es)?",
        r"errores?|fallos?|fallas?|defectos?|problemas?|incidencias?|arreglos?",
        r"erreurs?|bogues?|défauts?|problèmes?|pannes?|anomalies?|correctifs?",
        r"erros?|falhas?|defeitos?|consertos?|correções|correção",
    ),
    SessionType.FEATURE: (
        r"features?|functionalit(?:y|ies)",
        r"funcionalidad(?:es)?",
        r"fonctionnalités?",
        r"funcionalidades?",
    ),
    SessionType.REVIEW: (r"reviews?", r"revisi(?:ón|ones)", r"revues?|relectures?", r"revis(?:ão|ões)"),
    SessionType.REFACTOR: (
        r"refactor(?:ing|s)?",
        r"refactori[sz]aci(?:ón|ones)",
        r"refactorisations?",
        r"refatoraç(?:ão|ões)",
    ),
}
_PENDING = (
    r"pending|open|outstanding|unresolved|unfixed|left to (?:do|fix)|remaining|still there",
    r"pendientes?|abiert[oa]s?|sin (?:resolver|arreglar|cerrar)|por (?:resolver|arreglar)",
    r"en attente|en suspens|ouvert[es]*|non résolu[es]*|à (?:corriger|régler)|restant[es]*",
    r"pendentes?|abert[oa]s?|em aberto|por (?:resolver|corrigir)|sem (?:resolver|solução)",
)
_FILLER = re.compile(
    r"\b(?:is|are|there|any|some|do|we|have|related|relating|about|with|to|the|of|in|on|for|a|an"
    r"|hay|algún|alguna|algunos|algunas|relacionad[oa]s?|con|sobre|la|el|los|las|de|del|en|un|una|que|tenemos|queda|quedan"
    r"|y|a-t-il|des|un|une|du|lié[es]*|à|au|aux|sur|reste|il|est-ce|qu"
    r"|há|algum|alguma|alguns|relacionad[oa]s?|com|sobre|o|os|as|do|da|dos|das|no|na|temos|existe|existem)\b",
    re.IGNORECASE,
)
_SHOWN = 3
_AFFECTED = ("fixes_issue_in", "impacts", "affects")
_LEAST_SHARED = 0.3


def _either(patterns: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE)


_KIND = {kind: _either(patterns) for kind, patterns in _KINDS.items()}
_OPEN = _either(_PENDING)


@dataclass(frozen=True, slots=True)
class Asked:
    """Sessions of ``type`` that are still open, about ``topic`` (may be empty)."""

    type: SessionType
    topic: str


@dataclass(frozen=True, slots=True)
class PendingSession:
    summary: SessionSummary
    score: float
    snippet: str
    message_id: str | None
    #: Sessions it affects: id, title, shared entities.
    affects: tuple[tuple[SessionId, str, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class PendingAnswer:
    open: tuple[PendingSession, ...]
    #: Sessions of the kind about the topic that are done.
    done: int


def asked_for(query: str) -> Asked | None:
    """What kind of open session the query asks for, if it does."""
    if not _OPEN.search(query):
        return None
    kind = next((kind for kind, pattern in _KIND.items() if pattern.search(query)), None)
    if kind is None:
        return None
    topic = _FILLER.sub(" ", _OPEN.sub(" ", _KIND[kind].sub(" ", query)))
    return Asked(kind, " ".join(re.findall(r"[\w./:-]+", topic)))


class PendingSessions:
    def __init__(self, search: Search, links: LinkService, proposals: LinkProposals) -> None:
        self._search = search
        self._links = links
        self._proposals = proposals

    def find(self, namespace: Namespace, asked: Asked) -> PendingAnswer:
        """Open sessions of the kind, best first, each with the sessions it affects."""
        from ovillo.search.service import SearchRequest  # start-up cost: a resolution without search pays nothing

        found = self._search.search(
            namespace, SearchRequest(f"type:{asked.type.value} {asked.topic}".strip(), limit=10)
        )
        still = (SessionStatus.ACTIVE, SessionStatus.INTERRUPTED)
        going = [hits for hits in found.sessions if hits.summary.session.status in still]
        done = len(found.sessions) - len(going)
        shown = [
            PendingSession(
                hits.summary,
                hits.score,
                hits.hits[0].snippet if hits.hits else hits.summary.summary,
                hits.hits[0].message_id if hits.hits else None,
                self._affected(namespace, hits.summary.session.id),
            )
            for hits in going[:_SHOWN]
        ]
        return PendingAnswer(tuple(shown), done)

    def _affected(
        self, namespace: Namespace, session_id: SessionId
    ) -> tuple[tuple[SessionId, str, tuple[str, ...]], ...]:
        """By links somebody made; without any, by what the sessions share."""
        linked = [link for link in self._links.links_of(namespace, session_id) if link.relationship in _AFFECTED]
        if linked:
            return tuple((link.other.session.id, link.other.title, tuple(link.link.shared_entities)) for link in linked)
        proposed = self._proposals.for_session(namespace, session_id, _SHOWN)
        return tuple(
            (other.session.id, other.title, tuple(proposal.shared_entities))
            for proposal in proposed
            if proposal.score >= _LEAST_SHARED
            for other in (proposal.from_session, proposal.to_session)
            if other.session.id != session_id
        )
