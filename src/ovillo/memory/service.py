"""Memories as a service: the five layers over one store.

Owns the entry points for interfaces; each layer is a module of its own.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ovillo.memory.attribution import Attribution
from ovillo.memory.curating import Curating
from ovillo.memory.forgetting import ForgetMemories
from ovillo.memory.importing import Importing
from ovillo.memory.layers.drafts import Drafts
from ovillo.memory.layers.episodic import Episodic
from ovillo.memory.layers.semantic import Semantic
from ovillo.memory.layers.short_term import ShortTerm
from ovillo.memory.layers.working import Working
from ovillo.memory.operational.service import Operational
from ovillo.memory.procedures.service import Procedures
from ovillo.memory.promotion import Promotion
from ovillo.memory.recalling import Recalling
from ovillo.memory.remembering import Remembering
from ovillo.memory.review import Review
from ovillo.model.clock import Clock
from ovillo.model.errors import NotFound, OvilloError
from ovillo.model.memories import Memory, MemoryFilter, MemoryId
from ovillo.model.quoting import in_quotes
from ovillo.model.records import Namespace
from ovillo.search.analysis import TextAnalyzer

if TYPE_CHECKING:
    from ovillo.memory.chroma.index import ChromaIndex
    from ovillo.memory.meaning import Meaning
    from ovillo.memory.operational.json_folder import JsonFolder
    from ovillo.security.redaction import Redactor
    from ovillo.sessions.audit import Audit
    from ovillo.sessions.projects import Projects
    from ovillo.store.protocol import Store


#: Number of memories requested by meaning, and how long a caller waits for them (seconds).
_NEAR, _NEAR_S = 20, 0.25

_log = logging.getLogger(__name__)


class Memories:
    """Thread-safe. The namespace is the first argument of every call; secrets are masked before anything is stored."""

    def __init__(
        self,
        store: Store,
        redactor: Redactor,
        clock: Clock,
        audit: Audit,
        meaning: Meaning,
        projects: Projects,
        folder: JsonFolder | None = None,
        chroma: ChromaIndex | None = None,
    ) -> None:
        """``folder``: MCP-OCS's JSON files for records, beside the store; ``chroma``: a second index, by meaning."""
        self._store = store.memories
        self._clock = clock
        drafts = Drafts(redactor, clock)
        self.operational = Operational(self._store, drafts, folder)
        catch_up = self.operational.catch_up
        self._chroma = chroma
        self.meaning = meaning
        self.short_term = ShortTerm(self._store, drafts)
        self.working = Working(self._store, drafts)
        self.episodic = Episodic(self._store, drafts, self.mark_seen, catch_up, meaning, self.near)
        self.semantic = Semantic(self._store, drafts, self.mark_seen)
        self.procedures = Procedures(self._store, drafts)
        self.attribution = Attribution(store.sessions)
        self.remembering = Remembering(
            self._store, self.attribution, self.short_term, self.episodic, self.semantic, self.procedures
        )
        self.recalling = Recalling(
            self._store, self.semantic, TextAnalyzer, clock, self.mark_seen, catch_up, meaning, self.near
        )
        self.forgetting = ForgetMemories(store, audit, clock, self.operational.forget)
        self.promotion = Promotion(store, drafts, projects)
        self.review = Review(self._store, drafts, self.semantic)
        self.curating = Curating(self._store, drafts, self.semantic)
        self.importing = Importing(self._store, drafts)

    def near(self, namespace: Namespace, query: str) -> Mapping[str, float]:
        """Ids of memories with their similarity; nothing without a Chroma server that answers in time."""
        return {} if self._chroma is None else self._chroma.nearest(namespace, query, _NEAR, _NEAR_S)

    def get(self, namespace: Namespace, memory_id: str, *, viewer: str) -> Memory:
        """Raises NotFound."""
        where = MemoryFilter(ids=(MemoryId(memory_id.strip()),), viewer=viewer)
        found = self._store.find(namespace, where, 1)
        if not found:
            raise NotFound(f"No memory {in_quotes(memory_id[:80])}.", hint="List memories, or recall; each has its id.")
        return found[0]

    def listed(
        self, namespace: Namespace, where: MemoryFilter, limit: int, after: tuple[int, str] | None = None
    ) -> list[Memory]:
        """Newest first, older than ``after`` (time and id of one), without expired ones."""
        self.operational.catch_up(namespace)
        return self._store.find(namespace, replace(where, alive_at=self._clock()), limit, after)

    def mark_seen(self, namespace: Namespace, memories: Sequence[Memory]) -> None:
        """Records that they were returned: used memories stay fresh."""
        if not memories:
            return
        try:
            self._store.note_used(namespace, [each.id for each in memories], at=self._clock())
        except OvilloError as error:
            # A read-only database can still be read.
            _log.debug("uses of memories were not noted: %s", error.code)
