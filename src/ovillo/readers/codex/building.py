"""Messages of a thread under construction.

Owns drafts and turning them into messages. ``seq`` of a message is the byte offset of its first line and that
of a part the offset of its line: the same after any number of scans.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import blake2b
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
from ovillo.readers.codex.results import Output


@dataclass(slots=True)
class Call:
    """A tool call that waits for its output."""

    id: str
    seq: int
    name: str
    input: Any
    started: int | None
    source_type: str
    namespace: str | None = None
    child: SessionId | None = None
    output: Output | None = None
    ended: int | None = None
    #: The client's own item of this call, when it came before the output.
    item: dict[str, Any] = field(default_factory=dict)

    def part(self, message_id: MessageId) -> Part:
        output = self.output
        metadata = {"source_type": self.source_type}
        if self.namespace:
            metadata["namespace"] = self.namespace
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
                status=ToolStatus.PENDING if output is None else status_of(output),
                started_at=self.started,
                ended_at=self.ended,
                child_session_id=self.child,
            ),
            created_at=self.started,
            metadata=metadata,
            lost_bytes=0 if output is None else output.lost_bytes,
        )


@dataclass(slots=True)
class Draft:
    id: MessageId
    seq: int
    role: Role
    author: Author
    created: int | None
    model: str | None = None
    provider: str | None = None
    completed: int | None = None
    usage: Usage | None = None
    usage_source: str | None = None
    error: str | None = None
    is_summary: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    parts: list[Part | Call] = field(default_factory=list)

    def add(
        self,
        kind: PartType,
        text: str,
        seq: int,
        at: int | None,
        source_type: str | None = None,
        name: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        """A part of words; its id is ``name``, or the message's with its place."""
        facts = {**({"source_type": source_type} if source_type else {}), **(metadata or {})}
        part_id = PartId(name or f"{self.id}:{seq - self.seq}")
        synthetic = self.author is Author.SYNTHETIC
        self.parts.append(Part(part_id, self.id, seq, kind, text, synthetic, created_at=at, metadata=facts))

    def message(self, session_id: SessionId) -> Message:
        return Message(
            session_id,
            self.id,
            self.seq,
            self.role,
            self.author,
            tuple(part if isinstance(part, Part) else part.part(self.id) for part in self.parts),
            model=self.model,
            provider=self.provider,
            created_at=self.created,
            completed_at=self.completed,
            usage=self.usage,
            usage_source=self.usage_source,
            error=self.error,
            is_summary=self.is_summary,
            metadata=self.metadata,
        )


def status_of(output: Output) -> ToolStatus:
    return ToolStatus.ERROR if output.is_error else ToolStatus.COMPLETED


def made_up_id(kind: str, thread: str, count: int, text: str) -> MessageId:
    """An id for an item that has none (0.63.0): by the thread it was first said in, its place and its words."""
    words = f"{thread}\n{text}".encode("utf-8", "replace")
    return MessageId(f"{kind}-{count}-{blake2b(words, digest_size=8).hexdigest()}")
