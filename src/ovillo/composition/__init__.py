"""The composition root: builds every service, once per process.

Owns every service and its dependencies; interfaces see them as ``ovillo.interfaces.services.Services``. Each property
imports what it builds: a start pays only for the services it uses (0.1 s of a search's 0.25 s). Each layer has a class
for its services, which knows those below; this one holds the services above them all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from ovillo.composition.memory import MemoryServices
from ovillo.model.built_once import built_once

if TYPE_CHECKING:
    from ovillo.background import Background
    from ovillo.model.masking import MaskingProgress
    from ovillo.model.outside_index import OutsideIndex
    from ovillo.model.records import Namespace, Session
    from ovillo.sessions.forgetting import Forgetting
    from ovillo.sessions.masking import Masking
    from ovillo.sessions.status import StatusService


class Composition(MemoryServices):
    """Implements ``ovillo.interfaces.services.Services``. Thread-safe; each service is made once."""

    def close(self) -> None:
        """Ends background work and closes the store; safe to call twice."""
        built = vars(self)
        if "summary_worker" in built:
            self.summary_worker.close()
        if "audit" in built:
            self.audit.close()
        if "feed" in built:
            self.feed.close()
        self.store.close()

    @built_once
    def masking(self) -> Masking:
        from ovillo.sessions.masking import Masking

        def elsewhere() -> list[tuple[str, Callable[[], int]]]:
            """Files and copies derived from the store; built only for masking them again."""
            spaces = self.store.sessions.namespaces()
            # A new store: without what masks them, which is large. Questions are noted in a file even where nothing is kept.
            if not (spaces or (self.settings.data_dir / "logs").exists()):
                return []
            return [
                ("code", lambda: self.code.mask_again(spaces)),
                ("documents", lambda: self.knowledge.mask_again(spaces)),
                ("copies of records", lambda: self.memories.operational.mask_again(spaces)),
            ]

        return Masking(self.store, self._rules, lambda: self._redactor, elsewhere)

    @built_once
    def forgetting(self) -> Forgetting:
        from ovillo.sessions.forgetting import Forgetting

        def is_excluded() -> Callable[[Session], bool]:
            clients, rules = self.ingest.excluded_clients(), self.ingest.exclusion()
            return lambda session: session.source in clients or rules.of_session(session) is not None

        def drop_copies(namespace: Namespace, memories: frozenset[str]) -> None:
            """Builds the memory service only where memories have copies."""
            if self.settings.memory_folder is not None:
                self.memories.operational.forget(namespace, memories)

        at = self.settings.data_dir
        return Forgetting(self.store, self.catalog, self.audit, self.clock, at, is_excluded, drop_copies)

    @built_once
    def status(self) -> StatusService:
        from ovillo.sessions.status import StatusService

        def embedded(namespace: Namespace) -> tuple[int, int] | None:
            from ovillo.search.embedders import model_id

            model = model_id(self.settings)
            return None if model is None else self.store.vectors.share(namespace, model)

        def outside_index() -> OutsideIndex | None:
            """Asks the server named in the settings, for some seconds at most."""
            return None if self.chroma is None else self.chroma.standing(self.store.sessions.namespaces())

        def masking_progress() -> MaskingProgress:
            """Builds the service only when the progress is asked for."""
            return self.masking.progress()

        return StatusService(
            self.store,
            self.settings.data_dir,
            self.clock,
            lambda: time.monotonic() - self.opened_at,
            embedded,
            self.workers,
            masking_progress,
            outside_index,
        )

    @built_once
    def background(self) -> Background:
        from ovillo.background import Background

        return Background(self)
