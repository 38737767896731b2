"""What a scan found, merged the way the store merges it: by id, usage by maximum, results into their calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from ovillo.model.records import (
    Author,
    Message,
    Part,
    PartType,
    Role,
    Session,
    SessionDelta,
    SessionId,
    SkippedRecord,
    ToolResult,
    Usage,
)
from ovillo.readers.protocol import Checkpoint, Cursor, Place, Reader


@dataclass
class Scanned:
    sessions: dict[str, Session] = field(default_factory=dict)
    messages: dict[str, dict[str, Message]] = field(default_factory=dict)
    skipped: list[SkippedRecord] = field(default_factory=list)
    cursor: Cursor = field(default_factory=dict)
    deltas: int = 0

    def thread(self, session_id: str) -> list[Message]:
        return sorted(self.messages[session_id].values(), key=lambda message: message.seq)

    def parts(self, session_id: str) -> list[Part]:
        return [part for message in self.thread(session_id) for part in message.parts]

    def calls(self, session_id: str) -> dict[str, Part]:
        return {p.tool.call_id: p for p in self.parts(session_id) if p.tool and p.type is PartType.TOOL_CALL}

    def prompts(self, session_id: str) -> list[str]:
        return [
            "\n".join(part.text for part in message.parts if part.type is PartType.TEXT)
            for message in self.thread(session_id)
            if message.role is Role.USER and message.author is Author.HUMAN
        ]

    def answers(self, session_id: str) -> list[Message]:
        return [message for message in self.thread(session_id) if message.role is Role.ASSISTANT]

    def usage(self, session_id: str) -> Usage:
        return sum((m.usage for m in self.thread(session_id) if m.usage), Usage())

    def tools(self, session_id: str) -> Counter[str]:
        return Counter(part.tool.name for part in self.calls(session_id).values() if part.tool)

    def take(self, records: Iterable[Any]) -> Scanned:
        for record in records:
            if isinstance(record, SessionDelta):
                self._merge(record)
            elif isinstance(record, SkippedRecord):
                self.skipped.append(record)
            elif isinstance(record, Checkpoint):
                self.cursor.update(record.cursor)
        return self

    def _merge(self, delta: SessionDelta) -> None:
        self.deltas += 1
        known = self.sessions.get(delta.session.id)
        self.sessions[delta.session.id] = delta.session if known is None else _merged_session(known, delta.session)
        messages = self.messages.setdefault(delta.session.id, {})
        for message in delta.messages:
            old = messages.get(message.id)
            messages[message.id] = message if old is None else _merged(old, message)
        for result in delta.tool_results:
            _join(messages, result)
        for name in delta.superseded:
            if name in messages:
                messages[name] = replace(messages[name], superseded=True)


def scan(reader: Reader, place: Place, cursor: Cursor | None = None, only: str | None = None) -> Scanned:
    return Scanned(cursor=dict(cursor or {})).take(
        reader.scan(place, cursor or {}, SessionId(only) if only is not None else None)
    )


def _merged_session(old: Session, new: Session) -> Session:
    values = {
        name: value for name in new.__slots__ if (value := getattr(new, name)) is not None and name not in ("metadata",)
    }
    created = [x for x in (old.created_at, new.created_at) if x is not None]
    updated = [x for x in (old.updated_at, new.updated_at) if x is not None]
    return replace(
        old,
        **{
            **values,
            "created_at": min(created, default=None),
            "updated_at": max(updated, default=None),
            "metadata": {**old.metadata, **new.metadata},
        },
    )


def _merged(old: Message, new: Message) -> Message:
    parts = {part.id: part for part in old.parts} | {part.id: part for part in new.parts}
    return replace(
        old,
        seq=min(old.seq, new.seq),
        parts=tuple(sorted(parts.values(), key=lambda part: part.seq)),
        parent_id=new.parent_id or old.parent_id,
        model=new.model or old.model,
        completed_at=max((x for x in (old.completed_at, new.completed_at) if x is not None), default=None),
        created_at=min((x for x in (old.created_at, new.created_at) if x is not None), default=None),
        usage=old.usage.max(new.usage) if old.usage and new.usage else new.usage or old.usage,
        usage_source=new.usage_source or old.usage_source,
        finish=new.finish or old.finish,
        provider=new.provider or old.provider,
        metadata={**old.metadata, **new.metadata},
        superseded=old.superseded or new.superseded,
    )


def _join(messages: dict[str, Message], result: ToolResult) -> None:
    for message in messages.values():
        for part in message.parts:
            if part.tool is not None and part.tool.call_id == result.call_id:
                tool = replace(
                    part.tool,
                    output=result.output if result.output is not None else part.tool.output,
                    status=result.status,
                    ended_at=result.ended_at,
                    child_session_id=result.child_session_id or part.tool.child_session_id,
                )
                joined = replace(
                    part, tool=tool, metadata={**part.metadata, **result.metadata}, lost_bytes=result.lost_bytes
                )
                parts = tuple(joined if x.id == part.id else x for x in message.parts)
                messages[message.id] = replace(message, parts=parts)
                return
