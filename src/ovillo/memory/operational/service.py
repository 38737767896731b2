"""Conversations, incidents and tool runs: all three end in the one store, as episodes of schema v2.

Owns putting them there. What a record looks like is ``records``'; what version 2 asks for, ``ovillo.legacy``'s, which reads old ones.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ovillo.legacy.mcp_ocs import episode_of
from ovillo.memory.layers.drafts import Drafts
from ovillo.model.errors import InvalidInput
from ovillo.model.memories import Memory, Origin, Provenance
from ovillo.model.records import Namespace

if TYPE_CHECKING:
    from ovillo.store.protocol import MemoriesStore

#: What a tool said is believed by nobody before a person confirms it.
TOOL_EXEC = "tool_exec"

_log = logging.getLogger(__name__)


class Operational:
    """Thread-safe."""

    def __init__(self, store: MemoriesStore, drafts: Drafts) -> None:
        self._store = store
        self._drafts = drafts

    def keep(self, namespace: Namespace, record: Mapping[str, Any], provenance: Provenance) -> tuple[Memory, bool]:
        """A record (``records``) as an episode, and whether it is new: the same record is kept once. Raises InvalidInput,
        LimitExceeded, StoreUnavailable."""
        memory = self._episode(namespace, self._drafts.masked(dict(record)), provenance)
        known = self._store.get(namespace, memory.id)
        if known is not None:
            return known, False
        self._store.put(namespace, [memory])
        # Figures only, whatever is verbose: what was remembered is in no log.
        _log.info("kept 1 record of kind %s", memory.kind)
        return memory, True

    def _episode(self, namespace: Namespace, record: Mapping[str, Any], provenance: Provenance) -> Memory:
        old = episode_of(record, "", str(namespace))
        if old is None:
            raise InvalidInput(f"timestamp is {record.get('timestamp')}.", hint="Give ISO 8601: 2026-11-22T04:07:41Z.")
        drafted = self._drafts.memory(
            old.layer,
            self._drafts.name("key", old.key),
            old.text,
            old.value,
            replace(
                provenance,
                origin=Origin.TOOL if old.kind == TOOL_EXEC else provenance.origin,
                session_id=provenance.session_id or old.provenance.session_id,
            ),
            kind=old.kind,
            tags=old.tags,
            participants=old.participants,
            importance=old.importance,
        )
        return replace(drafted, id=old.id, created_at=old.created_at, updated_at=old.updated_at)
