"""Messages of append-only logs: one answer takes several lines, a tool's output follows its call.

Owns messages and calls under construction, and turning them into records. A message's ``seq`` is the byte offset of its
first line, and a part's that of its line plus its index in it: stable over scans, and ordered as the file is. Each
client interprets its own lines.
"""

from __future__ import annotations

from dataclasses import field
from typing import Any

from ovillo.model.dataclass import dataclass
from ovillo.model.records import (
    Author,
    Message,
    MessageId,
    Part,
    PartId,
    PartType,
    Patch,
    Role,
    SessionId,
    ToolCall,
    ToolResult,
    ToolStatus,
    Usage,
)


@dataclass(slots=True)
class ToolOutput:
    """The result of a tool."""

    text: str
    is_error: bool = False
    lost_bytes: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)

    @property
    def status(self) -> ToolStatus:
        return ToolStatus.ERROR if self.is_error else ToolStatus.COMPLETED

    def late(self, call_id: str, at: int | None, child: SessionId | None) -> ToolResult:
        """The result of a call whose message was already returned."""
        return ToolResult(call_id, self.text, self.status, at, child, self.metadata, self.lost_bytes)


@dataclass(slots=True)
class OpenCall:
    """A tool call, which may still wait for its output."""

    id: str
    seq: int
    name: str
    input: Any
    started: int | None
    child: SessionId | None = None
    metadata: dict[str, Any] = field(default_factory=dict)
    output: ToolOutput | None = None
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
                ToolStatus.PENDING if output is None else output.status,
                self.started,
                self.ended,
                child_session_id=self.child,
            ),
            created_at=self.started,
            metadata=self.metadata if output is None else {**self.metadata, **output.metadata},
            lost_bytes=0 if output is None else output.lost_bytes,
        )


@dataclass(slots=True)
class GrowingMessage:
    """A message whose parts may still come."""

    id: MessageId
    seq: int
    role: Role
    author: Author
    created: int | None
    parent: MessageId | None = None
    model: str | None = None
    provider: str | None = None
    completed: int | None = None
    usage: Usage | None = None
    usage_source: str | None = None
    error: str | None = None
    finish: str | None = None
    is_summary: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    parts: list[Part | OpenCall] = field(default_factory=list)

    def patch(self, call_id: str, patch: Patch, seq: int, at: int | None) -> None:
        """A change that a call made, as a part beside it."""
        part_id = PartId(f"{call_id}:patch")
        self.parts.append(Part(part_id, self.id, seq, PartType.PATCH, patch=patch, created_at=at))

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
            provider=self.provider,
            created_at=self.created,
            completed_at=self.completed,
            usage=self.usage,
            usage_source=self.usage_source,
            error=self.error,
            finish=self.finish,
            is_summary=self.is_summary,
            metadata=self.metadata,
        )
