"""A store of memories for benchmarks, through the same door as every client: the tools ``remember`` and ``recall``.

Owns opening it, and the clock that a benchmark may move.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from ovillo.app import open_services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.clock import system_clock
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.security.principals import LOCAL
from ovillo.settings import Settings


class RememberedStore:
    def __init__(
        self, folder: Path, embedder: str = "minilm", clock: Callable[[], int] = system_clock, **settings: Any
    ) -> None:
        self.services = open_services(Settings(folder, folder, embedder=embedder, watch=False, **settings))
        vars(self.services)["clock"] = clock
        self._tools = Registry.choose(("all",))

    def __enter__(self) -> RememberedStore:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.services.close()

    def call(self, tool: str, **arguments: Any) -> Mapping[str, Any]:
        result = self._tools.dispatch(self.services, LOCAL, tool, arguments)
        if result.is_error or result.structured is None:
            raise RuntimeError(f"{tool}: {result.text}")
        found: Mapping[str, Any] = result.structured
        return found

    def remember(self, text: str, **arguments: Any) -> str:
        """Its id."""
        return str(self.call("remember", text=text, **arguments)["id"])

    def recall(self, query: str, limit: int = 8) -> list[str]:
        """Ids, best first."""
        return [str(each["id"]) for each in self.call("recall", query=query, limit=limit)["memories"]]

    def embed(self) -> int:
        return self.services.background.embed_memories(DEFAULT_NAMESPACE)
