"""Questions about the last work that name no subject: "what did we do last?", "what is left to do?".

Owns recognising them, as whole questions or by words none of which is a subject, and which session answers. What is told
of it is its hand-off (``sessions.recovery``). ``last_work.toml`` has the questions and words of four languages.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from ovillo.model.data_files import text_beside
from ovillo.model.errors import OvilloError
from ovillo.model.quoting import written
from ovillo.model.records import SessionKind
from ovillo.model.sessions import SessionFilter
from ovillo.references.context.answer import Item, Provenance
from ovillo.references.context.providers import ProviderAnswer, Question
from ovillo.references.words import fold
from ovillo.sessions.recovery.builder import MIN_TOKENS
from ovillo.sessions.recovery.written import lines

if TYPE_CHECKING:
    from ovillo.sessions.recovery.builder import Recovery
    from ovillo.sessions.results import RecoveredContext, RecoveredItem
    from ovillo.store.protocol import SessionStore

Asked = Literal["done", "open"]
#: What is open is asked for where words of both are in the question: "anything left from last time?"
_KINDS: tuple[Asked, ...] = ("open", "done")

#: Longer questions have a subject of their own (characters).
_LONGEST = 120
#: Of fewer words, only whole questions are known.
_FEWEST = 2
#: Sessions looked at for one in which somebody said something.
_NEWEST = 50
#: Share of the answer's budget, and at most: the rest of a hand-off is for ``recover_context``.
_SHARE, _MOST_TOKENS = 0.85, 1_200
_WORTH = 0.9
#: What a hand-off holds besides the work itself.
_LEFT_OUT = ("pointer", "looked_at", "compaction")
_STILL_OPEN = ("open", "todo", "next", "error")


def asked_for(query: str) -> Asked | None:
    """What the question asks of the last work; ``None`` where it asks for anything else."""
    if len(query) > _LONGEST:
        return None
    words = re.findall(r"\w+", fold(query))
    bare, known = " ".join(words), _forms()
    for kind, pattern in known.questions.items():
        if pattern.fullmatch(bare):
            return kind
    if len(words) < _FEWEST:
        return None
    for light, telling in known.words:
        told = [kind for kind, own in telling.items() if not own.isdisjoint(words)]
        if told and light.issuperset(words):
            return told[0]
    return None


class _Forms(NamedTuple):
    #: Whole questions.
    questions: Mapping[Asked, re.Pattern[str]]
    #: For each language, all words that such a question may be made of, and the telling ones by what they ask.
    words: Sequence[tuple[frozenset[str], Mapping[Asked, frozenset[str]]]]


@cache
def _forms() -> _Forms:
    data = tomllib.loads(text_beside(__file__, "last_work.toml"))
    opening, when = "|".join(data["opening"]), "|".join(data["when"])
    questions = {kind: re.compile(rf"(?:(?:{opening}) )*(?:{'|'.join(data[kind])})(?: (?:{when}))*") for kind in _KINDS}
    words = []
    for light, *telling in zip(data["words"]["light"], *(data["words"][kind] for kind in _KINDS), strict=True):
        own = {kind: frozenset(each.split()) for kind, each in zip(_KINDS, telling, strict=True)}
        words.append((frozenset(light.split()).union(*own.values()), own))
    return _Forms(questions, words)


class LastWork:
    """A ``Provider``: answers from the hand-off of the newest session of the project."""

    def __init__(self, sessions: SessionStore, recovery: Recovery) -> None:
        self._sessions = sessions
        self._recovery = recovery

    def evidence(self, question: Question) -> ProviderAnswer:
        asked = asked_for(question.asked)
        if asked is None:
            return ProviderAnswer()
        try:
            recovered = self._newest(question)
        except OvilloError:
            return ProviderAnswer()
        if recovered is None:
            return ProviderAnswer()
        session, title = recovered.summary.session, recovered.summary.title
        at = session.updated_at or session.created_at
        sentences = [question.wording.last_work(session.id, title, at)]
        shown = [item for item in recovered.items if item.kind not in _LEFT_OUT]
        if asked == "open":
            left = [item for item in shown if item.kind in _STILL_OPEN]
            if not left:
                sentences.append(question.wording.nothing_open())
            shown = [item for item in shown if item.kind == "goal"] + left
        place = Provenance("session", session.id, _WORTH, session.id, at=at)
        return ProviderAnswer(_items(shown, recovered, place), tuple(sentences), answers=True)

    def _newest(self, question: Question) -> RecoveredContext | None:
        """Of the session that the question is asked in, where that is named; else of the newest other one."""
        tokens = max(MIN_TOKENS, min(_MOST_TOKENS, int(question.max_tokens * _SHARE)))
        if question.session_id is not None and question.session_id != question.asking:
            return self._recovery.recover(question.namespace, question.session_id, tokens)
        where = question.scope.sessions(SessionFilter())
        for row in self._sessions.find(question.namespace, where, _NEWEST):
            is_own = row.session.id == question.asking and not question.include_self
            if is_own or row.session.kind is SessionKind.SUBAGENT:
                continue
            recovered = self._recovery.recover(question.namespace, row.session.id, tokens)
            if any(item.kind == "goal" for item in recovered.items):
                return recovered
        return None


def _items(shown: Sequence[RecoveredItem], recovered: RecoveredContext, place: Provenance) -> tuple[Item, ...]:
    text = written(lines(shown, recovered.language))
    return (Item(text, place, _WORTH),) if text else ()
