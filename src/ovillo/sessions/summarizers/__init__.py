"""Summarizers: one module each, and the registry of them.

Owns the list. Adding one is one source file and one line here; other packages add theirs through the entry point
group ``ovillo.summarizers``: a callable that takes the settings and gives a ``Summarizer``.
"""

from __future__ import annotations

from collections.abc import Callable

from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.plugins import added
from ovillo.sessions.summarizers.protocol import Summarizer, SummaryRequest
from ovillo.settings import Settings


def _extractive(settings: Settings) -> Summarizer:
    from ovillo.sessions.summarizers.extractive import Extractive  # start-up cost: patterns of four languages

    return Extractive()


def _openai(settings: Settings) -> Summarizer:
    from ovillo.sessions.summarizers.openai import OpenAiSummarizer  # start-up cost: urllib

    url, model = _endpoint(settings)
    return OpenAiSummarizer(url, model, settings.summarizer_key, settings.summarizer_timeout_s)


def _anthropic(settings: Settings) -> Summarizer:
    from ovillo.sessions.summarizers.anthropic import AnthropicSummarizer  # start-up cost: urllib

    url, model = _endpoint(settings)
    return AnthropicSummarizer(url, model, settings.summarizer_key, settings.summarizer_timeout_s)


def _endpoint(settings: Settings) -> tuple[str, str]:
    if not settings.summarizer_url or not settings.summarizer_model:
        raise InvalidInput(
            f"The summarizer {settings.summarizer!r} needs an address and a model.",
            hint="Set summarizer_url and summarizer_model, or use summarizer 'extractive'.",
        )
    return settings.summarizer_url, settings.summarizer_model


_BUILT_IN: dict[str, Callable[[Settings], Summarizer]] = {
    "extractive": _extractive,
    "openai": _openai,
    "anthropic": _anthropic,
}


def summarizer_names() -> tuple[str, ...]:
    return (*_BUILT_IN, *sorted(added("ovillo.summarizers")))


def open_summarizer(settings: Settings) -> Summarizer:
    """The summarizer the settings name. Raises NotFound, InvalidInput."""
    name = settings.summarizer
    if name in _BUILT_IN:
        return _BUILT_IN[name](settings)
    others = added("ovillo.summarizers")
    if name not in others:
        raise NotFound.named("summarizer", name, summarizer_names())
    made: Summarizer = others[name].load()(settings)
    return made


__all__ = ["Summarizer", "SummaryRequest", "open_summarizer", "summarizer_names"]
