"""What sessions taught, put before a person: decisions, fixes with their cause, conventions and preferences.

Owns the rules by which a sentence is proposed; nothing that is proposed is believed. The same is proposed once, also when a person has
said no to it. Decisions are those of a hand-off (``sessions.recovery``), so that the two never disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from ovillo.memory.kinds import kind_of
from ovillo.memory.layers.drafts import Drafts
from ovillo.memory.planted import planted_instruction
from ovillo.memory.subjects import SAME_SUBJECT, fact_like, key_for, likeness, subject
from ovillo.model.conclusions import Conclusion
from ovillo.model.dataclass import dataclass
from ovillo.model.errors import NotFound
from ovillo.model.memories import (
    Audience,
    Layer,
    Memory,
    MemoryFilter,
    MemoryState,
    Origin,
    Provenance,
    Trust,
    digest_of,
)
from ovillo.model.quoting import said
from ovillo.model.records import Author, Message, Namespace, PartType, Role, Session, SessionId, SessionKind
from ovillo.model.sessions import SessionFilter
from ovillo.sessions.conclusions import concludes
from ovillo.sessions.recovery.points import points
from ovillo.sessions.recovery.thread import read_thread
from ovillo.sessions.summarizers.sentences import sentences

if TYPE_CHECKING:
    from ovillo.store.protocol import SessionStore, Store

_MESSAGES, _PAGE = 5_000, 500
_SHORTEST, _LONGEST = 25, 320
#: Of one session, so that a long one does not fill the list.
_MOST_OF_A_KIND = 8
_NOTHING = Conclusion.QUESTION | Conclusion.ANNOUNCEMENT | Conclusion.PENDING
#: Steps of the work at hand, offers and reports: true when they were said, and of no use to a later session.
_PASSING = re.compile(
    r"→|^(?:i|i'(?:ll|ve|m|d)|if you|let'?s|based on|want me|shall i|would you|should i|you|your|looking at|consequently|updating|\w+ing)\b"
    r"|\b(?:need to|i (?:can|will|tried|got|saw|never)|are failing|we(?:'ll| will)? (?:also )?need)\b"
    r"|^(?:voy a|si quieres|quieres que|vamos a ver|je vais|si vous voulez|si tu veux|vou|se quiser|quer que)\b"
    r"|\b(?:hay que|necesitamos|il faut que je|precisamos)\b",
    re.IGNORECASE,
)
#: Said in so many words: that one thing stands in a sentence "rather than" another decides nothing yet.
_DECIDES = re.compile(
    r"\b(?:decid(?:ed|imos|ido|iu)|décidé|decision (?:is|was)|the (?:fix|rule|plan) is|agreed|settled on|from now on|going forward"
    r"|we(?:'ll| will| won'?t| should| keep| use| chose| stay)|let us (?:keep|use)"
    r"|acordamos|usaremos|mantendremos|a partir de (?:ahora|agora)"
    r"|désormais|nous (?:gardons|utiliserons|avons choisi)|on (?:garde|utilise|choisit)|combinamos|vamos (?:usar|manter)|manteremos)\b",
    re.IGNORECASE,
)
#: What somebody likes whatever the work; wishes for the work at hand are none.
_LIKES = re.compile(
    r"\b(?:i (?:prefer|like|hate|don'?t like|would rather)|my (?:preference|favou?rite)|(?:the )?user prefers?"
    r"|prefiero|no me gusta|je préfère|je n'aime pas|prefiro|não gosto)\b",
    re.IGNORECASE,
)
_WHY = {
    "decision": "a session decided it",
    "fix": "a session found it out and mended it",
    "convention": "a person said how things are done",
    "preference": "a person said what they like",
}


@dataclass(frozen=True, slots=True)
class Candidate:
    kind: str
    text: str
    origin: Origin
    message_id: str | None
    at: int | None


class Promotion:
    def __init__(self, store: Store, drafts: Drafts) -> None:
        self._store = store
        self._drafts = drafts

    def promote(
        self, namespace: Namespace, session_id: SessionId, *, owner: str, project: str | None = None
    ) -> list[Memory]:
        """Propose what this session taught and nobody was asked yet. Raises NotFound."""
        row = self._store.sessions.get(namespace, session_id)
        if row is None:
            raise NotFound(
                f"No session {said(session_id[:80])}.", hint="List sessions, or search for words said in it."
            )
        proposed: list[Memory] = []
        for candidate in candidates(_messages(self._store.sessions, namespace, session_id), row.session):
            memory = self._proposal(namespace, candidate, row.session, owner, project)
            if memory is not None:
                self._store.memories.put(namespace, [memory])
                proposed.append(memory)
        return proposed

    def newest(self, namespace: Namespace, limit: int) -> list[SessionId]:
        """Sessions of people, most recently updated first."""
        rows = self._store.sessions.find(namespace, SessionFilter(), limit * 3)
        return [row.session.id for row in rows if row.session.kind is not SessionKind.SUBAGENT][:limit]

    def _proposal(
        self, namespace: Namespace, candidate: Candidate, session: Session, owner: str, project: str | None
    ) -> Memory | None:
        text = str(self._drafts.masked(candidate.text))
        known = self._store.memories.find(namespace, MemoryFilter(digest=digest_of(text, None)), 1)
        if known:
            return None
        like = fact_like(self._store.memories, namespace, text, viewer=owner, project=project)
        if like is not None and like.provenance.session_id == session.id and like.state is MemoryState.PROPOSED:
            return None  # the same session says it in other words
        audience = (
            Audience.PERSONAL if candidate.kind == "preference" else Audience.PROJECT if project else Audience.TEAM
        )
        of = Provenance(
            candidate.origin,
            owner,
            session.agent or session.source,
            session.id,
            candidate.message_id,
            None,
            candidate.text,
        )
        memory = self._drafts.memory(
            Layer.SEMANTIC,
            like.key if like else self._drafts.name("key", key_for(text)),
            text,
            None,
            of,
            kind=candidate.kind,
            importance=6,
            audience=audience,
            project=None if audience is Audience.PERSONAL else project,
        )
        otherwise = f", and says otherwise than {like.id}" if like and like.state is MemoryState.ACTIVE else ""
        return replace(
            memory,
            created_at=candidate.at or memory.created_at,
            state=MemoryState.PROPOSED,
            trust=Trust.UNTRUSTED,
            reason=f"{_WHY[candidate.kind]}{otherwise}",
        )


def candidates(messages: list[Message], session: Session) -> Iterator[Candidate]:
    """What may be worth keeping, with its evidence; at most some of each kind."""
    counts: dict[str, int] = {}
    told: list[frozenset[str]] = []
    for candidate in (*_decisions(messages, session), *_fixes(messages), *_habits(messages)):
        about = subject(candidate.text)
        if (
            counts.get(candidate.kind, 0) < _MOST_OF_A_KIND
            and planted_instruction(candidate.text) is None
            and (candidate.kind == "preference" or not _PASSING.search(candidate.text.lstrip("*_#>- ")))
            and len(about) > 2
            and not any(likeness(about, other) >= SAME_SUBJECT for other in told)
        ):
            told.append(about)
            counts[candidate.kind] = counts.get(candidate.kind, 0) + 1
            yield candidate


def _decisions(messages: list[Message], session: Session) -> Iterator[Candidate]:
    thread = read_thread(messages)
    by_id = {message.id: message for message in messages}
    for point in points(thread, session, thread.evidence.language)["decision"]:
        text = point.texts[0]
        message = by_id.get(point.ref) if point.ref else None  # type: ignore[call-overload]  # a message's id as text
        if message is None or not _DECIDES.search(text) or not _SHORTEST <= len(text) <= _LONGEST or text.endswith("…"):
            continue
        yield Candidate("decision", text, _origin(message), message.id, message.created_at)


def _fixes(messages: list[Message]) -> Iterator[Candidate]:
    """Of the last answer of each turn: what was done, with the sentence beside it that tells why."""
    for message in _last_answers(messages):
        for text in _texts(message):
            spoken = [sentence.text for sentence in sentences(text)]
            kinds = [concludes(each) for each in spoken]
            for at, kind in enumerate(kinds):
                if Conclusion.OUTCOME not in kind or kind & _NOTHING:
                    continue
                pair = spoken[at]
                if Conclusion.CAUSE not in kind:
                    near = [
                        n
                        for n in (at + 1, at - 1)
                        if 0 <= n < len(kinds) and Conclusion.CAUSE in kinds[n] and not kinds[n] & _NOTHING
                    ]
                    if not near:
                        continue
                    pair = " ".join(spoken[n] for n in sorted((at, near[0])))
                pair = " ".join(pair.split())
                if _SHORTEST <= len(pair) <= _LONGEST:
                    yield Candidate("fix", pair, Origin.MODEL, message.id, message.created_at)


def _habits(messages: list[Message]) -> Iterator[Candidate]:
    """What people say of how things are done, and of what they like."""
    for message in messages:
        if message.role is not Role.USER or message.author is not Author.HUMAN or message.inherited_from is not None:
            continue
        for text in _texts(message):
            for sentence in sentences(text):
                words = " ".join(sentence.text.split())
                if not _SHORTEST <= len(words) <= _LONGEST or concludes(words) & _NOTHING:
                    continue
                kind = kind_of(words).kind
                if kind == "convention" or (kind == "preference" and _LIKES.search(words)):
                    yield Candidate(kind, words, Origin.HUMAN, message.id, message.created_at)


def _last_answers(messages: list[Message]) -> Iterator[Message]:
    last: Message | None = None
    for message in messages:
        if message.role is Role.USER and message.author is Author.HUMAN:
            if last is not None:
                yield last
            last = None
        elif message.role is Role.ASSISTANT and any(_texts(message)):
            last = message
    if last is not None:
        yield last


def _texts(message: Message) -> Iterator[str]:
    for part in message.parts:
        if part.type is PartType.TEXT and part.text and not part.metadata.get("synthetic"):
            yield part.text


def _origin(message: Message) -> Origin:
    return Origin.HUMAN if message.role is Role.USER and message.author is Author.HUMAN else Origin.MODEL


def _messages(store: SessionStore, namespace: Namespace, session_id: SessionId) -> list[Message]:
    found: list[Message] = []
    while len(found) < _MESSAGES:
        page = store.messages(
            namespace,
            session_id,
            after_seq=found[-1].seq if found else None,
            after_id=found[-1].id if found else None,
            limit=_PAGE,
        )
        if not page:
            break
        found += page
    return [message for message in found if not message.reverted]
