"""Scanning the rollouts of Codex CLI: what changed, oldest first, a checkpoint after each batch.

Owns the scan; reading one file is in ``rollout``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

from ovillo.model.records import Inventory, Session, SessionDelta, SessionId, SkippedRecord
from ovillo.readers.client import Client, Connection
from ovillo.readers.codex.layout import NAME, RolloutFile, discover, find_rollout, list_rollouts, status_of
from ovillo.readers.codex.titles import find_index, read_titles
from ovillo.readers.jsonl import FileState
from ovillo.readers.protocol import Checkpoint, Cursor, Progress, Record, Source

#: A checkpoint after this much (bytes).
_BATCH_BYTES = 2_000_000
#: The cursor's key for the index of threads; no file is named so.
_INDEX_KEY = "#state"


class CodexReader:
    """Threads of Codex CLI, 0.63 and later."""

    name = NAME
    title = "Codex CLI"
    version = 2
    appends_only = True
    shardable = True
    client = Client(
        variables=("CODEX_HOME",),
        name_over_mcp="codex",
        # A sub-agent's thread is the sub-agent's own session.
        session_in_meta=(
            ("threadId",),
            ("x-codex-turn-metadata", "thread_id"),
            ("x-codex-turn-metadata", "session_id"),
        ),
        connection=Connection(
            over_stdio="codex mcp add ovillo -- ovillo mcp",
            over_http=("codex mcp add ovillo --url URL --bearer-token-env-var OVILLO_TOKEN",),
            folder=".codex",
            moved_by="CODEX_HOME",
            files=("config.toml",),
        ),
    )

    def discover(self, env: Mapping[str, str], home: Path) -> list[Source]:
        """``CODEX_HOME``, else ``~/.codex``, when it holds rollouts."""
        return discover(env, home)

    def scan(self, source: Source, cursor: Cursor, only: SessionId | None = None) -> Iterator[Record]:
        """Deltas of what was appended since ``cursor``; a rewritten file is read again. Never raises for bad data."""
        if only is not None:
            found = find_rollout(source.path, only)
            files = _changed([found] if found else [], cursor)
            yield from _read_all(files, cursor, lambda thread: find_rollout(source.path, thread) is not None)
            return
        listing = list_rollouts(source.path)
        known = {file.session_id for file in listing.files}
        files = [file for file in listing.files if _is_ours(file.key, source.shard)]
        changed = _changed(files, cursor)
        yield from listing.skipped
        yield Progress(sum(_unread(file, cursor.get(file.key)) for file in changed))
        yield from _read_all(changed, cursor, lambda thread: thread in known)
        yield from _titles(source, files, cursor)
        if not listing.skipped:
            present = {_INDEX_KEY, *(file.key for file in files)}
            gone = [key for key in cursor if key not in present and _is_ours(key, source.shard)]
            if gone:
                yield Checkpoint(dict.fromkeys(gone))
            yield Inventory(frozenset(file.session_id for file in files))


def _read_all(files: list[RolloutFile], cursor: Cursor, exists: Callable[[SessionId], bool]) -> Iterator[Record]:
    from ovillo.readers.codex.rollout import Rollout  # start-up cost (6 ms): only who has a Codex pays for it

    pending: Cursor = {}
    read = 0
    for file in files:
        rollout = Rollout(file, cursor.get(file.key), exists)
        done = rollout.start
        for record in rollout.read():
            if record is not None:
                yield record
            elif rollout.offset - done >= _BATCH_BYTES:
                yield Checkpoint({**pending, file.key: rollout.entry()}, read + rollout.offset - done)
                pending, read, done = {}, 0, rollout.offset
        pending[file.key] = rollout.entry()
        read += rollout.offset - done
        if read >= _BATCH_BYTES:
            yield Checkpoint(pending, read)
            pending, read = {}, 0
    if pending:
        yield Checkpoint(pending, read)


def _titles(source: Source, files: list[RolloutFile], cursor: Cursor) -> Iterator[Record]:
    """Titles of all threads, whenever the client wrote its index; not only of threads with new lines."""
    index = find_index(source.path)
    if index is None or cursor.get(_INDEX_KEY) == index.stamp:
        return
    by_thread = {file.session_id: file for file in files}
    for found in read_titles(index):
        if isinstance(found, SkippedRecord):
            yield found
        elif (file := by_thread.get(SessionId(found[0]))) is not None:
            yield SessionDelta(Session(file.session_id, NAME, title=found[1], status=status_of(file)))
    yield Checkpoint({_INDEX_KEY: index.stamp})


def _changed(files: list[RolloutFile], cursor: Cursor) -> list[RolloutFile]:
    return [file for file in files if _has_changed(file, cursor.get(file.key))]


def _is_ours(key: str, shard: tuple[int, int] | None) -> bool:
    return shard is None or crc32(key.encode("utf-8", "surrogateescape")) % shard[1] == shard[0]


def _has_changed(file: RolloutFile, entry: Any) -> bool:
    seen = FileState.of_entry(entry)
    return seen is None or seen.size != file.state.size or seen.mtime_ns != file.state.mtime_ns


def _unread(file: RolloutFile, entry: Any) -> int:
    seen = FileState.of_entry(entry)
    return file.state.size - seen.offset if seen is not None and seen.offset <= file.state.size else file.state.size
