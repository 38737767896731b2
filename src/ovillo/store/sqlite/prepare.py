"""Turning deltas into rows ready to insert, on the caller's thread.

Owns the work that needs no database (analysis, encoding), so that the writer's transaction stays short.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ovillo.model.records import Author, Message, Part, PartType, Role, SessionDelta
from ovillo.model.text import searchable_text
from ovillo.model.touches import touched_paths
from ovillo.store.protocol import Analyzer
from ovillo.store.sqlite.rows import (
    PART_EMBEDDABLE,
    PART_INDEXED,
    PART_SYNTHETIC,
    ROLE_CODES,
    message_values,
    part_values,
)

#: Index columns, weighted apart when ranking.
TITLE, HUMAN, ASSISTANT, TOOL = "title", "human", "assistant", "tool"

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION)
_PROMPT_CHARS = 400


@dataclass(slots=True)
class PreparedPart:
    part: Part
    values: tuple[Any, ...]
    flags: int
    role: int
    column: str
    terms: str
    length: int
    paths: tuple[str, ...]


@dataclass(slots=True)
class PreparedMessage:
    message: Message
    values: tuple[Any, ...]
    parts: list[PreparedPart]


@dataclass(slots=True)
class PreparedDelta:
    delta: SessionDelta
    messages: list[PreparedMessage]
    title_terms: str


def prepare_delta(delta: SessionDelta, analyzer: Analyzer) -> PreparedDelta:
    title = delta.session.title
    return PreparedDelta(
        delta,
        [prepare_message(message, analyzer) for message in delta.messages],
        analyzer.index_terms(title)[0] if title else "",
    )


def prepare_message(message: Message, analyzer: Analyzer) -> PreparedMessage:
    parts = [prepare_part(part, message, analyzer) for part in message.parts]
    return PreparedMessage(message, message_values(message), parts)


def prepare_part(part: Part, message: Message, analyzer: Analyzer) -> PreparedPart:
    text = searchable_text(part)
    indexed = bool(text) and message.inherited_from is None
    terms, length = analyzer.index_terms(text) if indexed else ("", 0)
    flags = (PART_SYNTHETIC if part.synthetic else 0) | (PART_INDEXED if length else 0)
    if length >= 3 and part.type in _SAID and not part.synthetic and worth_embedding(message, part):
        flags |= PART_EMBEDDABLE
    return PreparedPart(
        part,
        part_values(part),
        flags,
        ROLE_CODES[message.role],
        _column(part, message),
        terms,
        length,
        touched_paths(part),
    )


def worth_embedding(message: Message, part: Part) -> bool:
    """Said by a person or a model, or the summary a compaction left."""
    return message.author is not Author.SYNTHETIC or part.type is PartType.COMPACTION


def first_prompt(messages: Sequence[Message]) -> str | None:
    """The first thing a person said here, on one line and cut; ``None`` when nobody has yet."""
    for message in messages:
        if message.author is Author.HUMAN and message.role is Role.USER and message.inherited_from is None:
            for part in message.parts:
                if part.type is PartType.TEXT and not part.synthetic and part.text.strip():
                    shown = part.metadata.get("display_text")
                    text = shown if isinstance(shown, str) and shown.strip() else part.text
                    return " ".join(text[: 4 * _PROMPT_CHARS].split())[:_PROMPT_CHARS]
    return None


def _column(part: Part, message: Message) -> str:
    if part.type in _SAID and not part.synthetic:
        return HUMAN if message.author is Author.HUMAN else ASSISTANT
    return TOOL
