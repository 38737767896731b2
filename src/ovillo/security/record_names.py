"""Which strings of a record are names: ids, folders, branches, models, files. Collects or changes all of them.

Owns traversing names of records; ``redaction`` handles what is said (texts, titles, tool input). A name must stay a
name, and the same wherever it occurs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from operator import attrgetter
from typing import Any, TypeVar

from ovillo.model.code import CodeCall, CodeFile, CodeImport, CodeSymbol
from ovillo.model.records import (
    FileRef,
    Inventory,
    Message,
    Part,
    Patch,
    RawRef,
    Session,
    SessionDelta,
    SkippedRecord,
    ToolCall,
    ToolResult,
)

Change = Callable[[str], str]
_R = TypeVar("_R")

#: Class -> its names, its short texts, its fields that hold records. Other fields hold no strings, or strings that
#: ``redaction`` handles. Deliberately not listed: the namespace and the reader's name (ours), a code file's path
#: (needed to open it), and its bodies, which are made from masked text.
_PLAN: Mapping[type, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    SessionDelta: (("reverted", "superseded", "file", "after"), (), ("session", "messages", "tool_results")),
    Session: (
        ("id", "source_id", "parent_id", "forked_from", "fork_point", "project_id", "directory", "worktree", "git_branch",
         "slug", "agent", "model", "provider", "version", "modes", "active_files"),
        ("warnings",),
        (),
    ),
    Message: (
        ("session_id", "id", "parent_id", "inherited_from", "idempotency_key", "agent", "model", "provider", "usage_source",
         "finish"),
        (),
        ("parts",),
    ),
    Part: (("id", "message_id"), (), ("tool", "file", "patch", "raw_ref")),
    ToolCall: (("name", "call_id", "child_session_id"), (), ()),
    FileRef: (("path", "mime"), (), ()),
    Patch: (("files",), (), ()),
    RawRef: (("file", "hash"), (), ()),
    ToolResult: (("call_id", "child_session_id"), (), ()),
    Inventory: (("session_ids",), (), ()),
    SkippedRecord: (("file", "position"), ("reason",), ()),
    CodeFile: (("exports", "tickets"), ("error", "skipped"), ("symbols", "calls", "imports")),
    CodeSymbol: (("name", "qualified_name", "parent", "bases"), ("signature", "doc"), ()),
    CodeCall: (("name", "receiver", "receiver_type"), (), ()),
    CodeImport: (("module", "names", "alias"), (), ()),
}  # fmt: skip


#: Clients' ids and hex digits: no rule takes them for a secret without a word beside them, and each of the thousands in
#: a history would be new to the automata (a third of masking's time in a scan).
_PLAIN_ID = re.compile(
    r"(?:(?:toolu|msg|call|req|ses|prt)_[0-9A-Za-z]{1,64}(?:_\d{1,6})?|[0-9a-fA-F-]{1,64})(?:[:.]\d{1,6})?"
)


def is_plain_id(name: str) -> bool:
    """Whether ``name`` is certain to stay unchanged."""
    return _PLAIN_ID.fullmatch(name) is not None


def _getter(fields: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    if len(fields) > 1:
        return attrgetter(*fields)
    return lambda record: tuple(getattr(record, name) for name in fields)


_NAMES = {kind: _getter(names + texts) for kind, (names, texts, _) in _PLAN.items()}
_INNER = {kind: _getter(inner) for kind, (_, _, inner) in _PLAN.items()}


def names_of(*records: object) -> set[str]:
    """All names in ``records`` and in the records they hold."""
    names: set[str] = set()
    for record in records:
        _collect(record, names)
    return names


def _collect(record: object, into: set[str]) -> None:
    kind = type(record)
    for value in _NAMES[kind](record):
        if value:
            if isinstance(value, str):
                into.add(value)
            else:
                into.update(_strings(value))
    for inner in _INNER[kind](record):
        if inner is not None:
            for one in inner if isinstance(inner, tuple) else (inner,):
                _collect(one, into)


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | frozenset):
        for one in value:
            yield from _strings(one)
    elif isinstance(value, dict):
        for key, one in value.items():
            yield from _strings(key)
            yield from _strings(one)


def strings_of(value: Any) -> list[str]:
    """Every string in ``value``, including keys of objects."""
    return list(_strings(value))


def renamed(record: _R, name: Change, text: Change) -> _R:
    """``record`` with ``name`` applied to every name and ``text`` to every short text."""
    names, texts, inner = _PLAN[type(record)]
    changes: dict[str, Any] = {field: changed(getattr(record, field), name) for field in names}
    changes |= {field: changed(getattr(record, field), text) for field in texts}
    for field in inner:
        value = getattr(record, field)
        if isinstance(value, tuple):
            changes[field] = tuple(renamed(one, name, text) for one in value)
        elif value is not None:
            changes[field] = renamed(value, name, text)
    return replace(record, **changes)  # type: ignore[type-var]  # every class of the plan is a dataclass


def changed(value: Any, change: Change) -> Any:
    """``value`` with ``change`` applied to every string, including keys of objects."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list | tuple | frozenset):
        return type(value)(changed(one, change) for one in value)
    if isinstance(value, dict):
        return {changed(key, change): changed(one, change) for key, one in value.items()}
    return value
