"""Turning deltas into rows ready to insert, on the caller's thread.

Owns the work that needs no database (analysis, encoding), so that the writer's transaction stays short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ovillo.model.records import Author, Message, MessageId, Part, PartType, Role, Session, SessionDelta, ToolResult
from ovillo.model.text import searchable_text
from ovillo.model.touched_files import touched_paths
from ovillo.store.protocol import Analyzer
from ovillo.store.sqlite.rows import (
    PART_EMBEDDABLE,
    PART_INDEXED,
    PART_SYNTHETIC,
    ROLE_CODES,
    clean,
    message_values,
    part_values,
)

#: Index columns, weighted apart when ranking.
TITLE, HUMAN, ASSISTANT, TOOL = "title", "human", "assistant", "tool"

_SAID = (PartType.TEXT, PartType.REASONING, PartType.COMPACTION)
_PROMPT_CHARS = 400


class PreparedPart(NamedTuple):
    """A part as rows: only plain values, so that it crosses to another process cheaply."""

    #: Values of ``PART_COLUMNS``.
    values: tuple[Any, ...]
    flags: int
    role: int
    column: str
    terms: str
    length: int
    paths: tuple[str, ...]
    #: Of searchable text.
    characters: int

    @property
    def id(self) -> str:
        return str(self.values[1])


class PreparedMessage(NamedTuple):
    #: Values of ``MESSAGE_COLUMNS``.
    values: tuple[Any, ...]
    parts: list[PreparedPart]

    @property
    def id(self) -> str:
        return str(self.values[0])

    @property
    def created_at(self) -> int | None:
        at: int | None = self.values[8]
        return at

    @property
    def inherited(self) -> bool:
        return self.values[20] is not None

    @property
    def prompt(self) -> bool:
        """Whether a person said it here."""
        return self.values[2] == Role.USER and self.values[3] == Author.HUMAN and not self.inherited


class PreparedDelta(NamedTuple):
    session: Session
    messages: list[PreparedMessage]
    tool_results: tuple[ToolResult, ...]
    reverted: tuple[MessageId, ...]
    superseded: tuple[MessageId, ...]
    reverted_is_complete: bool
    title_terms: str
    first_prompt: str | None
    file: str | None = None
    from_start: bool = False
    after: str | None = None


class Prepared(NamedTuple):
    deltas: list[PreparedDelta]
    #: Words first met and their terms, for the vocabulary.
    surfaces: list[tuple[str, str]]


class SqlitePreparation:
    """Implements ``ovillo.store.protocol.Preparation``."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._analyzer = analyzer

    def prepare(self, deltas: Sequence[SessionDelta]) -> Prepared:
        prepared = [prepare_delta(delta, self._analyzer) for delta in deltas]
        return Prepared(prepared, self._analyzer.take_new_surfaces())


def prepare_delta(delta: SessionDelta, analyzer: Analyzer) -> PreparedDelta:
    title = delta.session.title
    return PreparedDelta(
        delta.session,
        [prepare_message(message, analyzer) for message in delta.messages],
        delta.tool_results,
        delta.reverted,
        delta.superseded,
        delta.reverted_is_complete,
        title_terms(title, analyzer),
        first_prompt(delta.messages),
        delta.file,
        delta.from_start,
        delta.after,
    )


def title_terms(title: str | None, analyzer: Analyzer) -> str:
    return analyzer.index_terms(clean(title))[0] if title else ""


def prepare_message(message: Message, analyzer: Analyzer) -> PreparedMessage:
    return PreparedMessage(message_values(message), [prepare_part(part, message, analyzer) for part in message.parts])


def prepare_part(part: Part, message: Message, analyzer: Analyzer) -> PreparedPart:
    text = clean(searchable_text(part))
    indexed = bool(text) and message.inherited_from is None
    terms, length = analyzer.index_terms(text) if indexed else ("", 0)
    flags = (PART_SYNTHETIC if part.synthetic else 0) | (PART_INDEXED if length else 0)
    if length >= 3 and part.type in _SAID and not part.synthetic and worth_embedding(message, part):
        flags |= PART_EMBEDDABLE
    return PreparedPart(
        part_values(part),
        flags,
        ROLE_CODES[message.role],
        _column(part, message),
        terms,
        length,
        touched_paths(part),
        len(text),
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
                    return cut_prompt(text)
    return None


def cut_prompt(text: str) -> str:
    return " ".join(text[: 4 * _PROMPT_CHARS].split())[:_PROMPT_CHARS]


def _column(part: Part, message: Message) -> str:
    if part.type in _SAID and not part.synthetic:
        return HUMAN if message.author is Author.HUMAN else ASSISTANT
    return TOOL
