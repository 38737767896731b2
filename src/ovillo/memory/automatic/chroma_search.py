"""What a Chroma server finds near in meaning to a tool call or to the conversation, as a back end of automatic recall.

Owns its score. The server may be slow or gone: it is asked for a part of the limit, and its index of memories is left alone then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from ovillo.memory.automatic.query import MemoryQuery
from ovillo.memory.automatic.search import CUT_OFF, ScoredMemory, best, is_elsewhere, said_by_tags
from ovillo.memory.layers.episodic import LEAST_NEAR
from ovillo.model.clock import Clock
from ovillo.model.memories import Layer, MemoryFilter, MemoryId, MemoryState
from ovillo.model.records import Namespace

if TYPE_CHECKING:
    from ovillo.store.protocol import MemoriesStore

_LAYERS = (Layer.EPISODIC, Layer.SEMANTIC)
#: What a meaning that is the same says, and that it was said in this session.
_MEANING, _SAME_SESSION = 0.75, 0.15


class ChromaSearch:
    """Implements ``ContextSearch``. ``near`` gives ids and how near in meaning they are, in time or not at all."""

    def __init__(
        self, store: MemoriesStore, clock: Clock, near: Callable[[Namespace, str], Mapping[str, float]]
    ) -> None:
        self._store = store
        self._clock = clock
        self._near = near

    def of_tool(self, namespace: Namespace, query: MemoryQuery, viewer: str) -> list[ScoredMemory]:
        return self._found(namespace, query, viewer, None)

    def of_conversation(
        self, namespace: Namespace, query: MemoryQuery, session_id: str, viewer: str
    ) -> list[ScoredMemory]:
        return self._found(namespace, query, viewer, session_id or None)

    def _found(
        self, namespace: Namespace, query: MemoryQuery, viewer: str, session_id: str | None
    ) -> list[ScoredMemory]:
        near = {each: how for each, how in self._near(namespace, query.text).items() if how >= LEAST_NEAR}
        if not near:
            return []
        ids = tuple(map(MemoryId, near))
        # The store says who may see it, and what it says now.
        where = MemoryFilter(
            layers=_LAYERS, states=(MemoryState.ACTIVE,), ids=ids, viewer=viewer, alive_at=self._clock()
        )
        scored = []
        for memory in self._store.find(namespace, where, len(ids)):
            if is_elsewhere(memory, query):
                continue
            score = _MEANING * near[memory.id] + said_by_tags(memory, query)
            if session_id is not None and memory.provenance.session_id == session_id:
                score += _SAME_SESSION
            if score >= CUT_OFF:
                scored.append(ScoredMemory(memory, round(min(score, 1.0), 3), "chroma", round(near[memory.id], 3)))
        return best(scored)
