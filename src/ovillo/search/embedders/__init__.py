"""Embedding models: one module each, and the registry of them.

Owns the list. Adding a model is one source file and one line here; other packages add theirs through the entry
point group ``ovillo.embedders``: a callable that takes the settings and gives an ``Embedder``.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from weakref import WeakValueDictionary

from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.plugins import added
from ovillo.search.embedders.protocol import Embedder
from ovillo.search.passages import stored_as
from ovillo.settings import Settings


def _minilm(settings: Settings) -> Embedder:
    from ovillo.search.embedders.minilm import MiniLm  # start-up cost: 0.3 s, and only queries by meaning need it

    return MiniLm()


def _openai(settings: Settings) -> Embedder:
    from ovillo.search.embedders.openai import OpenAiEmbedder  # start-up cost: numpy and urllib

    if not settings.embedder_url or not settings.embedder_model:
        raise InvalidInput(
            "The embedder 'openai' needs an address and a model.", hint="Set embedder_url and embedder_model."
        )
    return OpenAiEmbedder(settings.embedder_url, settings.embedder_model, settings.embedder_key)


_BUILT_IN: dict[str, Callable[[Settings], Embedder]] = {"minilm": _minilm, "openai": _openai}


#: Models in use: 130 MB each, and good for all threads. Gone when nobody holds them.
_open: WeakValueDictionary[tuple[str | None, ...], Embedder] = WeakValueDictionary()
_opening = Lock()


def open_embedder(settings: Settings) -> Embedder | None:
    """The model the settings name, one for the whole process; ``None`` for ``none``.

    Raises NotFound, InvalidInput, IntegrityError."""
    if settings.embedder == "none":
        return None
    key = (settings.embedder, settings.embedder_url, settings.embedder_model, settings.embedder_key)
    with _opening:
        known = _open.get(key)
        if known is None:
            known = _open[key] = _opened(settings)
        return known


def _opened(settings: Settings) -> Embedder:
    name = settings.embedder
    if name in _BUILT_IN:
        return _BUILT_IN[name](settings)
    others = added("ovillo.embedders")
    if name not in others:
        raise NotFound.named("embedder", name, ["none", *_BUILT_IN, *others])
    embedder: Embedder = others[name].load()(settings)
    return embedder


def model_id(settings: Settings) -> str | None:
    """The name under which the settings' model keeps vectors, as far as it is known without loading it."""
    match settings.embedder:
        case "minilm":
            return stored_as("all-minilm-l6-v2-int8")
        case "openai" if settings.embedder_model:
            return stored_as(f"openai:{settings.embedder_model}")
        case _:
            return None


__all__ = ["Embedder", "model_id", "open_embedder"]
