"""Embedders: turning a text into a vector, each kind in one file, and the registry of them.

Owns the contract and the list. Other packages add theirs through the entry point group ``ovillo.embedders``.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Protocol

from ovillo.model.errors import InvalidInput
from ovillo.settings import Settings

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """``id`` stands with every vector it makes: vectors of two ids are never compared."""

    id: str
    dimension: int

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """One row of length 1 a text. Raises UpstreamError when a remote model does not answer."""
        ...


def open_embedder(settings: Settings) -> Embedder | None:
    """The embedder that the settings name; ``None`` for ``none``. Raises InvalidInput for an unknown name."""
    match settings.embedder:
        case "none":
            return None
        case "minilm":
            from ovillo.search.embedders.minilm import MiniLm  # start-up cost: the runtime alone takes 0.2 s

            return MiniLm()
        case "openai":
            from ovillo.search.embedders.openai import OpenAiEmbedder  # start-up cost, as above

            return OpenAiEmbedder(settings.embedder_url, settings.embedder_model, settings.embedder_key)
        case name:
            for point in entry_points(group="ovillo.embedders"):
                if point.name == name:
                    embedder: Embedder = point.load()(settings)
                    return embedder
    raise InvalidInput(f"No embedder named {settings.embedder!r}.", hint="Known: minilm, openai, none.")
