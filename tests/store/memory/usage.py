"""What models were paid for."""

from __future__ import annotations

from ovillo.model.records import Namespace
from ovillo.model.sessions import SessionFilter
from ovillo.model.usage import PaidAnswer
from tests.store.memory.filters import passes
from tests.store.memory.substore import SubStore


class UsageOfModels(SubStore):
    def answers(
        self, namespace: Namespace, where: SessionFilter, *, after: int | None = None, before: int | None = None
    ) -> list[PaidAnswer]:
        sessions = self._state.space(namespace).sessions
        found = [
            PaidAnswer(
                kept.session.id,
                message.id,
                kept.session.source,
                message.created_at,
                message.model or kept.session.model,
                message.provider,
                message.usage.input if message.usage else 0,
                message.usage.output if message.usage else 0,
                message.usage.reasoning if message.usage else 0,
                message.usage.cache_read if message.usage else 0,
                message.usage.cache_write if message.usage else 0,
                message.metadata.get("cache_write_1h", 0),
                message.cost,
                message.inherited_from is not None,
            )
            for kept in sessions.values()
            if passes(kept, where)
            for message in kept.in_order()
            if (message.usage is not None or message.cost is not None)
            and message.inherited_from not in sessions
            and (after is None or (message.created_at is not None and message.created_at >= after))
            and (before is None or (message.created_at is not None and message.created_at < before))
        ]
        return sorted(found, key=lambda answer: -1 if answer.at is None else answer.at)
