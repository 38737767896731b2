"""What models were paid for."""

from __future__ import annotations

from typing import Protocol

from ovillo.model.records import Namespace
from ovillo.model.sessions import SessionFilter
from ovillo.model.usage import PaidAnswer


class UsageStore(Protocol):
    def answers(
        self, namespace: Namespace, where: SessionFilter, *, after: int | None = None, before: int | None = None
    ) -> list[PaidAnswer]:
        """Answers with tokens or a cost from ``after`` to before ``before`` in the sessions that pass ``where``, oldest first;
        those of unknown time only where no time is asked for, and first. An answer that names no model has its session's.
        What a fork copied stands in it only where the session it was said in is not here; several forks may then hold it."""
        ...
