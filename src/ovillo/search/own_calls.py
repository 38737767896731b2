"""Records made by asking: the question itself in the asking session, and calls and results of this memory.

Owns excluding them from results. What they quote also exists where it was first said.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from ovillo.model.own_tools import is_own_tool, is_shell, types_own_command
from ovillo.model.records import Author, Namespace, Role, SessionId
from ovillo.search.query_terms import QueryTermBuilder
from ovillo.store.protocol import DocFilter, DocId, Order, Outline

if TYPE_CHECKING:
    from ovillo.store.protocol import SessionStore, TextStore

#: Newest texts that mention this memory, among which shell calls are examined.
_NAMING = 4_000
#: Messages in which the newest question is searched for, and how much of them is read (characters).
_NEWEST, _NEWEST_CHARS = 60, 400_000
#: Levels of sub-agents: whoever asked a sub-agent is asking the same.
_ABOVE = 4


class OwnCalls:
    """For one search. ``asking`` is the asking session, if known."""

    def __init__(
        self,
        texts: TextStore,
        sessions: SessionStore,
        query_terms: QueryTermBuilder,
        namespace: Namespace,
        asking: SessionId | None = None,
    ) -> None:
        self.texts = texts
        self.sessions = sessions
        self.query_terms = query_terms
        self.namespace = namespace
        self.asking = asking

    def among(self, docs: Mapping[DocId, Outline]) -> set[DocId]:
        """Those of the documents that are no evidence."""
        calls = {key: doc.tool_name for key, doc in docs.items() if doc.tool_name is not None}
        shells = [key for key, name in calls.items() if is_shell(name)]
        typed = self._typing([key for key in shells if key in self._naming]) if shells else set()
        since = self._asked_since
        asking = self._asking([key for key, doc in docs.items() if doc.session_id in since]) if since else set()
        return typed | asking | {key for key, name in calls.items() if is_own_tool(name)}

    def _typing(self, shells: list[DocId]) -> set[DocId]:
        texts = self.texts.doc_texts(self.namespace, shells) if shells else {}
        return {key for key, text in texts.items() if types_own_command(text)}

    @cached_property
    def _naming(self) -> set[DocId]:
        """Documents that mention this memory at all: usually none."""
        found = self.query_terms.of_words(self.namespace, ("ovillo",)).found
        return {
            one.doc
            for query_term in found
            for one in self.texts.match(self.namespace, query_term.match, DocFilter(), _NAMING, order=Order.NEWEST)
        }

    def _asking(self, inside: list[DocId]) -> set[DocId]:
        """Those of the documents, which are in asking sessions, that are in the newest turn."""
        found = self.texts.docs(self.namespace, inside)
        return {doc.id for doc in found if doc.message_seq >= self._asked_since[doc.session_id]}

    @cached_property
    def _asked_since(self) -> dict[SessionId, int]:
        """Where the newest turn begins, for the asking session and those it works for."""
        found: dict[SessionId, int] = {}
        session = self.asking
        for _ in range(_ABOVE):
            if session is None or session in found:
                break
            seq = self._newest_prompt(session)
            if seq is not None:
                found[session] = seq
            row = self.sessions.get(self.namespace, session)
            session = row.session.parent_id if row is not None else None
        return found

    def _newest_prompt(self, session: SessionId) -> int | None:
        newest = self.sessions.messages(
            self.namespace, session, limit=_NEWEST, newest_first=True, max_chars=_NEWEST_CHARS
        )
        prompts = (x.seq for x in newest if x.role is Role.USER and x.author is Author.HUMAN)
        # A longer turn began before it.
        return next(prompts, newest[-1].seq if newest else None)
