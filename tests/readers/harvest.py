"""What a reader found in a place, put together the way the store would: for tests of readers."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from ovillo.model.records import (
    Author,
    Inventory,
    Message,
    Part,
    PartType,
    Role,
    Session,
    SessionDelta,
    SessionId,
    SkippedRecord,
    ToolCall,
    ToolResult,
    Usage,
)
from ovillo.readers.protocol import Checkpoint, Cursor, Progress, Reader, Record, Source


@dataclass
class Found:
    """One session with everything said in it, in the store's order."""

    session: Session
    by_id: dict[str, Message] = field(default_factory=dict)

    @property
    def messages(self) -> list[Message]:
        return sorted(self.by_id.values(), key=lambda m: m.seq)

    @property
    def parts(self) -> list[Part]:
        return [part for message in self.messages for part in message.parts]

    @property
    def prompts(self) -> list[str]:
        return [
            "".join(part.text for part in message.parts if part.type is PartType.TEXT and not part.synthetic)
            for message in self.messages
            if message.role is Role.USER and message.author is Author.HUMAN
        ]

    @property
    def answers(self) -> list[Message]:
        return [m for m in self.messages if m.role is Role.ASSISTANT and m.author is Author.MODEL]

    @property
    def tools(self) -> list[ToolCall]:
        return [part.tool for part in self.parts if part.type is PartType.TOOL_CALL and part.tool]

    @property
    def usage(self) -> Usage:
        total = Usage()
        for message in self.messages:
            total = total + (message.usage or Usage())
        return total

    def text(self, part_type: PartType) -> list[str]:
        return [part.text for part in self.parts if part.type is part_type]


@dataclass
class Harvest:
    sessions: dict[str, Found] = field(default_factory=dict)
    skipped: list[SkippedRecord] = field(default_factory=list)
    inventory: frozenset[SessionId] | None = None
    cursor: Cursor = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)

    def take(self, record: Record) -> None:
        self.records.append(record)
        match record:
            case SessionDelta():
                self._delta(record)
            case SkippedRecord():
                self.skipped.append(record)
            case Inventory():
                self.inventory = record.session_ids
            case Checkpoint():
                self.cursor.update(record.cursor)
                self.cursor = {key: value for key, value in self.cursor.items() if value is not None}
            case Progress():
                pass

    def _delta(self, delta: SessionDelta) -> None:
        known = self.sessions.setdefault(delta.session.id, Found(delta.session))
        known.session = _over(known.session, delta.session)
        for message in delta.messages:
            held = known.by_id.get(message.id)
            known.by_id[message.id] = message if held is None else _merged(held, message)
        for result in delta.tool_results:
            _join(known, result)
        if delta.reverted_is_complete:
            for key, message in known.by_id.items():
                known.by_id[key] = replace(message, reverted=key in delta.reverted)
        for key in delta.superseded:
            if key in known.by_id:
                known.by_id[key] = replace(known.by_id[key], superseded=True)


def _over(old: Session, new: Session) -> Session:
    kept = {f.name: getattr(old, f.name) for f in fields(Session) if getattr(new, f.name) in (None, (), {})}
    created = [x for x in (old.created_at, new.created_at) if x is not None]
    updated = [x for x in (old.updated_at, new.updated_at) if x is not None]
    return replace(
        new,
        **kept
        | {
            "metadata": {**old.metadata, **new.metadata},
            "created_at": min(created, default=None),
            "updated_at": max(updated, default=None),
        },
    )


def _merged(old: Message, new: Message) -> Message:
    """``new`` over ``old``: nothing known is overwritten by its absence."""
    parts = {part.id: part for part in (*old.parts, *new.parts)}
    kept = {f.name: getattr(old, f.name) for f in fields(Message) if getattr(new, f.name) in (None, (), {}, False)}
    created = [x for x in (old.created_at, new.created_at) if x is not None]
    completed = [x for x in (old.completed_at, new.completed_at) if x is not None]
    return replace(
        new,
        **kept
        | {
            "seq": min(old.seq, new.seq),
            "parts": tuple(sorted(parts.values(), key=lambda part: part.seq)),
            "usage": new.usage.or_before(old.usage) if new.usage else old.usage,
            "created_at": min(created, default=None),
            "completed_at": max(completed, default=None),
            "metadata": {**old.metadata, **new.metadata},
        },
    )


def _join(found: Found, result: ToolResult) -> None:
    for key, message in found.by_id.items():
        parts = tuple(
            _with(part, part.tool, result) if part.tool and part.tool.call_id == result.call_id else part
            for part in message.parts
        )
        found.by_id[key] = replace(message, parts=parts)


def _with(part: Part, tool: ToolCall, result: ToolResult) -> Part:
    joined = replace(
        tool,
        output=result.output if result.output is not None else tool.output,
        status=result.status,
        ended_at=result.ended_at or tool.ended_at,
        child_session_id=result.child_session_id or tool.child_session_id,
    )
    return replace(
        part,
        tool=joined,
        metadata={**part.metadata, **result.metadata},
        lost_bytes=max(part.lost_bytes, result.lost_bytes),
    )


def harvest(reader: Reader, source: Source, cursor: Cursor | None = None, only: SessionId | None = None) -> Harvest:
    found = Harvest(cursor=dict(cursor or {}))
    for record in reader.scan(source, dict(cursor or {}), only):
        found.take(record)
    return found


def harvest_home(reader: Reader, home: Path, env: Mapping[str, str] | None = None) -> Harvest:
    """All places of ``home`` in the order ingest reads them."""
    found = Harvest()
    for place in sorted(reader.discover(env or {}, home), key=lambda p: p.precedence):
        for record in reader.scan(place, {}):
            found.take(record)
    return found


def digest(folder: Path) -> dict[str, str]:
    """Hash of every file below: equal before and after means nothing was touched."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
