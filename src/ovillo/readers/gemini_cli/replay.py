"""One session, reassembled from files that repeat, rewrite and thin out their messages.

Owns the merge. Sources of the facts: runs of 0.61 and 0.20 (fixtures), and ``chatRecordingTypes.ts`` of
google-gemini/gemini-cli for ``$rewindTo``, ``displayContent`` and the message types.

- A line is written again with the same id when its tools finish: the last one wins, field by field, and a missing field
  never overwrites one.
- A resume replaces the history (``$set.messages``) without tokens, model, thoughts or tool calls and with the time of
  the resume on each message: the first time is kept, lost fields stay.
- Messages are told apart by id and type, since a rewrite may use one id for two types. Their position is that of their
  first appearance, so that rereading after a rewrite moves nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import Any

from ovillo.model.clock import from_iso
from ovillo.model.dataclass import dataclass
from ovillo.readers.loose import dict_of, dicts_of, id_of, list_of, str_of

#: Source id and type.
Key = tuple[str, str]

SNAPSHOT_TAG = "<state_snapshot>"
_MAX_HELD_BYTES = 512 * 1024 * 1024


@dataclass(slots=True)
class Merged:
    """Everything ever written about one message."""

    id: str
    type: str
    file: str
    offset: int
    created_at: int | None = None
    #: Pieces of text in order, as they are in ``content``.
    texts: list[str] = field(default_factory=list)
    shown: str | None = None
    thoughts: list[dict[str, Any]] = field(default_factory=list)
    #: Thoughts found in a rewritten ``content``; used only when ``thoughts`` never occurred.
    rewritten_thoughts: list[str] = field(default_factory=list)
    tokens: dict[str, Any] | None = None
    model: str | None = None
    #: By call id, in order; ``args`` and the like are merged over each other.
    calls: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Results that came as ``functionResponse`` content, by call id.
    responses: dict[str, dict[str, Any]] = field(default_factory=dict)
    #: Files and other content parts.
    others: list[dict[str, Any]] = field(default_factory=list)
    raw: dict[str, Any] = field(default_factory=dict)
    superseded: bool = False
    reverted: bool = False
    #: The client's own fixed answer to a snapshot.
    acknowledges: bool = False

    @property
    def is_snapshot(self) -> bool:
        return any(text.lstrip().startswith(SNAPSHOT_TAG) for text in self.texts)


_KNOWN_FIELDS = frozenset(
    ("id", "timestamp", "type", "content", "displayContent", "thoughts", "tokens", "model", "toolCalls")
)


class Replay:
    """Feed ``record`` with every value of a session's files in order, then read the attributes."""

    def __init__(self) -> None:
        self.messages: dict[Key, Merged] = {}
        self.header: dict[str, Any] = {}
        self.session_ids: set[str] = set()
        self.started: int | None = None
        self.updated: int | None = None
        self.summary: str | None = None
        self.directories: list[str] = []
        #: Unknown kinds of records, counted.
        self.unknown: dict[str, int] = {}
        self._held = 0

    def record(self, value: Any, file: str, offset: int, size: int) -> str | None:
        """Process one line or document; returns the reason if that failed."""
        if not isinstance(value, dict):
            return f"not a record: {type(value).__name__}"
        self._held += size
        if self._held > _MAX_HELD_BYTES:
            return f"the session is larger than {_MAX_HELD_BYTES} bytes; the rest was not read"
        if "$set" in value:
            self._set(dict_of(value["$set"]), file, offset)
        elif "$rewindTo" in value:
            self._rewind(value["$rewindTo"])
        elif "sessionId" in value:
            self._meta(value)
            self._rewrite(value.get("messages"), file, offset)
        elif id_of(value.get("id")) and isinstance(value.get("type"), str):
            self._message(value, file, offset)
        else:
            name = "/".join(sorted(value)[:3])
            self.unknown[name] = self.unknown.get(name, 0) + 1
            return "a record of no known kind"
        return None

    def _meta(self, value: dict[str, Any]) -> None:
        for name, item in value.items():
            if name not in ("messages", "lastUpdated", "startTime") and item not in (None, ""):
                self.header.setdefault(name, item)
        self.started = _first(self.started, from_iso(value.get("startTime")))
        self._metadata(value)

    def _metadata(self, value: dict[str, Any]) -> None:
        self.updated = max((x for x in (self.updated, from_iso(value.get("lastUpdated"))) if x), default=None)
        if summary := str_of(value.get("summary")).strip():
            self.summary = summary
        if directories := [x for x in list_of(value.get("directories")) if isinstance(x, str)]:
            self.directories = directories
        if session_id := id_of(value.get("sessionId")):
            self.session_ids.add(session_id)

    def _set(self, value: dict[str, Any], file: str, offset: int) -> None:
        self._metadata(value)
        self._rewrite(value.get("messages"), file, offset)

    def _rewrite(self, value: Any, file: str, offset: int) -> None:
        if not isinstance(value, list):
            return
        before = set(self.messages)
        listed: list[Key] = []
        for item in dicts_of(value):
            key = self._message(item, file, offset, rewrite=True)
            if key is not None:
                listed.append(key)
        for key in listed:
            self.messages[key].reverted = False
        for place, key in enumerate(listed):
            if self.messages[key].is_snapshot and key not in before:
                self._supersede(before.difference(listed))
                self._mark_acknowledgement(listed[place + 1 : place + 2])

    def _supersede(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.messages[key].superseded = True

    def _mark_acknowledgement(self, following: list[Key]) -> None:
        """The answer right after a snapshot is the client's when it has no usage."""
        for key in following:
            message = self.messages[key]
            message.acknowledges = message.type == "gemini" and message.tokens is None and message.model is None

    def _rewind(self, target: Any) -> None:
        """Takes back the named message and all after it; everything when it is unknown."""
        reached = not any(key[0] == target for key in self.messages)
        for key, message in self.messages.items():
            reached = reached or key[0] == target
            message.reverted = message.reverted or reached

    def _message(self, value: dict[str, Any], file: str, offset: int, *, rewrite: bool = False) -> Key | None:
        source_id = id_of(value.get("id"))
        if source_id is None:
            return None
        key = (source_id, str_of(value.get("type")) or "unknown")
        known = self.messages.get(key)
        if known is None:
            known = self.messages[key] = Merged(*key, file, offset)
            merge(known, value)
            if known.is_snapshot and not rewrite:
                self._supersede(other for other in self.messages if other != key)
        else:
            merge(known, value)
            if not rewrite:
                known.reverted = False
        return key


def merge(into: Merged, value: dict[str, Any]) -> None:
    """``value`` over ``into``, keeping the first time and every field that ``value`` lacks."""
    into.created_at = _first(into.created_at, from_iso(value.get("timestamp")))
    _merge_content(into, value.get("content"))
    if shown := "".join(_plain(value.get("displayContent"))).strip():
        into.shown = shown
    if thoughts := dicts_of(value.get("thoughts")):
        into.thoughts = thoughts
    if isinstance(tokens := value.get("tokens"), dict) and tokens:
        into.tokens = tokens
    if model := str_of(value.get("model")):
        into.model = model
    for place, call in enumerate(dicts_of(value.get("toolCalls"))):
        _merge_call(into, id_of(call.get("id")) or f"call-{place}", call)
    for name, item in value.items():
        if name not in _KNOWN_FIELDS and item is not None:
            into.raw[name] = item


def _merge_call(into: Merged, call_id: str, call: dict[str, Any]) -> None:
    known = into.calls.setdefault(call_id, {})
    known.update((name, item) for name, item in call.items() if item not in (None, "", {}, []) or name not in known)


def _merge_content(into: Merged, content: Any) -> None:
    texts: list[str] = []
    thoughts: list[str] = []
    others: list[dict[str, Any]] = []
    calls = responses = 0
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            if isinstance(text := part.get("text"), str):
                (thoughts if part.get("thought") is True else texts).append(text)
            elif isinstance(call := part.get("functionCall"), dict):
                _merge_call(into, id_of(call.get("id")) or f"call-{calls}", call)
                calls += 1
            elif isinstance(response := part.get("functionResponse"), dict):
                into.responses[id_of(response.get("id")) or f"response-{responses}"] = response
                responses += 1
            elif part:
                others.append(part)
    if any(text.strip() for text in texts):
        into.texts = texts
    if thoughts:
        into.rewritten_thoughts = thoughts
    if others:
        into.others = others


def _plain(content: Any) -> list[str]:
    if isinstance(content, str):
        return [content]
    return [text for part in dicts_of(content) if (text := str_of(part.get("text")))]


def _first(known: int | None, new: int | None) -> int | None:
    return min((x for x in (known, new) if x is not None), default=None)
