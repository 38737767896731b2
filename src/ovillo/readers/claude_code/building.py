"""Messages under construction: one answer comes in several lines, a tool's output after its call.

Owns drafts and turning them into messages. A message's ``seq`` is the byte offset of its first line and a
part's that of its line plus its place in it: the same after any number of scans, and file position is the
order (formats page, section 1).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ovillo.model.records import (
    Author,
    Message,
    MessageId,
    Part,
    PartId,
    PartType,
    Role,
    SessionId,
    ToolCall,
    ToolStatus,
    Usage,
)
from ovillo.readers.claude_code.records import TokenUsage
from ovillo.readers.claude_code.results import Output


@dataclass(slots=True)
class Call:
    """A tool call that waits for its output."""

    id: str
    seq: int
    name: str
    input: Any
    started: int | None
    child: SessionId | None
    output: Output | None = None
    ended: int | None = None

    def part(self, message_id: MessageId) -> Part:
        output = self.output
        return Part(
            PartId(self.id),
            message_id,
            self.seq,
            PartType.TOOL_CALL,
            tool=ToolCall(
                self.name,
                self.id,
                self.input,
                None if output is None else output.text,
                None,
                ToolStatus.PENDING if output is None else status_of(output),
                self.started,
                self.ended,
                child_session_id=self.child,
            ),
            created_at=self.started,
            metadata={} if output is None else output_metadata(output),
            lost_bytes=0 if output is None else output.lost_bytes,
        )


@dataclass(slots=True)
class Draft:
    """A message whose parts may still grow."""

    id: MessageId
    seq: int
    role: Role
    author: Author
    created: int | None
    parent: MessageId | None = None
    model: str | None = None
    completed: int | None = None
    usage: Usage | None = None
    error: str | None = None
    finish: str | None = None
    is_summary: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    parts: list[Part | Call] = field(default_factory=list)

    def message(self, session_id: SessionId) -> Message:
        return Message(
            session_id,
            self.id,
            self.seq,
            self.role,
            self.author,
            tuple([part if part.__class__ is Part else part.part(self.id) for part in self.parts]),  # type: ignore[union-attr]
            self.parent,
            model=self.model,
            created_at=self.created,
            completed_at=self.completed,
            usage=self.usage,
            usage_source=None if self.usage is None else "message.usage",
            error=self.error,
            finish=self.finish,
            is_summary=self.is_summary,
            metadata=self.metadata,
        )


def status_of(output: Output) -> ToolStatus:
    return ToolStatus.ERROR if output.is_error else ToolStatus.COMPLETED


def output_metadata(output: Output) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if output.file:
        found["output_file"] = output.file
    if output.unread_bytes:
        found["unread_bytes"] = output.unread_bytes
    return found


def usage_of(tokens: TokenUsage) -> Usage:
    """Normalised: the client's input excludes both caches already, its output includes thinking."""
    output, details = max(tokens.output_tokens or 0, 0), tokens.output_tokens_details
    thinking = details.get("thinking_tokens") if details else 0
    reasoning = min(thinking, output) if isinstance(thinking, int) and thinking > 0 else 0
    return Usage(
        tokens.input_tokens or 0,
        output - reasoning,
        reasoning,
        tokens.cache_read_input_tokens or 0,
        tokens.cache_creation_input_tokens or 0,
    )
