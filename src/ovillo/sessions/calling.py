"""Which session is calling (DESIGN section 8).

Owns the order of the rules and how sure each is. Reads what clients leave for us: ids in the request, the
environment of a server the client started, tool calls in their own stores. An explicit argument is the
caller's business and never comes here. Sources: the fixtures' runs, see the reference on attaching.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from ovillo.model.clock import Clock
from ovillo.model.ids import new_id
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace, SessionId, SessionKind
from ovillo.readers.protocol import Place
from ovillo.sessions.views import Calling
from ovillo.store.protocol import SessionFilter

if TYPE_CHECKING:
    from ovillo.ingest.service import Ingest
    from ovillo.store.protocol import Store

Found = TypeVar("Found")

_log = logging.getLogger(__name__)

#: Client name in the handshake (its beginning) -> reader.
_READER_OF_CLIENT = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini-cli": "gemini_cli",
    "opencode": "opencode",
}
#: Variable -> client it speaks for: an agent started from another agent's shell inherits what is not its own.
_ENVIRONMENT = {"CLAUDE_CODE_SESSION_ID": "claude", "OVILLO_SESSION_ID": None}
#: Name of the last rule: nothing tells who calls, so that the session is the one this process was given at its start.
GENERATED = "generated id"
_TOOL_USE = "_meta claudecode/toolUseId"
#: Clients write a tool call to disk about when they make it: look again this often, this many times (seconds).
_RETRY_S = 0.05
_RETRIES = 6
#: A session written longer ago than this is not taken for the one that is calling (milliseconds).
_RECENT_MS = 15 * 60_000
#: Sessions looked at for that, sub-agents among them.
_NEWEST = 10


@dataclass(frozen=True, slots=True)
class CallContext:
    """What the interface knows of a call."""

    tool: str
    arguments: Mapping[str, Any]
    #: ``_meta`` of the MCP request.
    meta: Mapping[str, Any] = field(default_factory=dict)
    client_name: str | None = None
    roots: tuple[str, ...] = ()
    #: The client started this process (stdio): environment and working directory are the client's.
    own_process: bool = False
    #: Where it came in: ``cli``, ``stdio``, ``mcp`` (over HTTP or a WebSocket), ``rest``.
    channel: str = "cli"


class CallingSession:
    def __init__(
        self,
        store: Store,
        ingest: Ingest,
        environment: Mapping[str, str],
        clock: Clock,
        cwd: Path | None = None,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._store = store
        self._ingest = ingest
        self._environment = environment
        self._clock = clock
        self._cwd = cwd
        self._pause = pause
        self._generated = SessionId(new_id("ses", clock))

    def find(self, namespace: Namespace, call: CallContext) -> Calling:
        """The first rule that finds a session. Never raises; for an unknown caller the id generated at start, with
        confidence 0 and the reason."""
        if namespace != DEFAULT_NAMESPACE:
            # All rules but the first look at what agents on this machine do, which is nobody else's business.
            return self._by_meta(namespace, call) or self._unknown("The histories of this machine belong to others.")
        rules = (
            self._by_meta,
            self._by_tool_use,
            self._by_environment,
            self._by_answered_tool_use,
            self._by_running_call,
            self._by_place,
        )
        for rule in rules:
            try:
                found = rule(namespace, call)
            except Exception:  # noqa: BLE001  Boundary: a client's store in an unknown state costs its rule only.
                _log.exception("a rule for the calling session failed")
                continue
            if found is not None:
                return found
        client = f"client {call.client_name}" if call.client_name else "a client without a name"
        return self._unknown(f"{client} sent no session id and no recorded session of it is being written here.")

    def _unknown(self, reason: str) -> Calling:
        return Calling(self._generated, GENERATED, 0.0, reason)

    # --- the rules, surest first

    def _by_meta(self, namespace: Namespace, call: CallContext) -> Calling | None:
        """Codex sends its thread; a sub-agent's thread is the sub-agent's own session."""
        turn = call.meta.get("x-codex-turn-metadata")
        turn = turn if isinstance(turn, Mapping) else {}
        for source, key in (
            (call.meta, "threadId"),
            (turn, "thread_id"),
            (turn, "session_id"),
            (call.meta, "sessionId"),
        ):
            value = source.get(key)
            if isinstance(value, str) and value:
                return Calling(SessionId(value), f"_meta {key}", 1.0)
        return None

    def _by_tool_use(self, namespace: Namespace, call: CallContext) -> Calling | None:
        """Claude Code sends the id of the tool use, which stands in the transcript of the session or sub-agent.

        Ids repeat in copied sessions, and behind gateways to other models: only a call that waits for its answer is
        taken, which the transcript knows sooner than the store, unless the store and the environment agree.
        """
        use = _tool_use(call)
        if use is None:
            return None
        named = self._from_environment(call)
        known = self._store.session_of_call(namespace, use)
        if known is not None and named is not None and named[1] in (known, self._parent(namespace, known)):
            return Calling(known, _TOOL_USE, 1.0)
        tries = 3 if named else _RETRIES
        return _calling(self._look("claude_code", lambda place: _claude_session(place, use, running=True), tries=tries))

    def _by_answered_tool_use(self, namespace: Namespace, call: CallContext) -> Calling | None:
        """The tool use, where only one that has its answer is to be found."""
        use = _tool_use(call)
        if use is None:
            return None
        found = _calling(self._look("claude_code", lambda place: _claude_session(place, use, running=False), tries=1))
        if found is not None:
            return found
        known = self._store.session_of_call(namespace, use)
        return None if known is None else Calling(known, _TOOL_USE, 1.0)

    def _by_environment(self, namespace: Namespace, call: CallContext) -> Calling | None:
        named = self._from_environment(call)
        return Calling(SessionId(named[1]), f"environment {named[0]}", 0.95) if named else None

    def _by_running_call(self, namespace: Namespace, call: CallContext) -> Calling | None:
        """OpenCode tells nothing, but its store has the very call that reached us, still running."""
        if call.client_name is not None and not call.client_name.lower().startswith("opencode"):
            return None
        where = self._directory(call)
        tries = _RETRIES if call.client_name else 1
        found = self._look("opencode", lambda place: _opencode_session(place, call, where), tries=tries)
        return Calling(found, "running tool call in OpenCode's store", 0.97) if found else None

    def _by_place(self, namespace: Namespace, call: CallContext) -> Calling | None:
        """The session of this client in this folder that was written last, when that was just now."""
        reader = _reader_of(call.client_name)
        where = self._directory(call)
        if reader is None:
            return None
        fresh = [
            row.session.id
            for row in self._store.list_sessions(namespace, SessionFilter(source=reader, project=where), _NEWEST)
            if row.session.kind is not SessionKind.SUBAGENT and self._is_recent(row.session.updated_at)
        ]
        if not fresh:
            return None
        sure = 0.25 if where is None else 0.6 if len(fresh) == 1 else 0.4
        reason = f"newest session of {reader} in {where or 'any folder'}"
        return Calling(fresh[0], "client, folder and time of writing", sure, reason)

    # --- what they look at

    def _parent(self, namespace: Namespace, session: SessionId) -> SessionId | None:
        row = self._store.get_session(namespace, session)
        return row.session.parent_id if row is not None else None

    def _is_recent(self, at: int | None) -> bool:
        return at is not None and self._clock() - at < _RECENT_MS

    def _from_environment(self, call: CallContext) -> tuple[str, str] | None:
        if not call.own_process:
            return None
        for name, client in _ENVIRONMENT.items():
            value = self._environment.get(name)
            if value and (client is None or call.client_name is None or call.client_name.lower().startswith(client)):
                return name, value
        return None

    def _directory(self, call: CallContext) -> str | None:
        if call.roots:
            return call.roots[0]
        if not call.own_process:
            return None
        try:
            return str(self._cwd or Path.cwd())
        except OSError:  # the folder was removed under us
            return None

    def _look(self, reader: str, look: Callable[[Place], Found | None], *, tries: int) -> Found | None:
        """Ask every place of a reader, again after a moment while the client has not written the call yet."""
        for attempt in range(tries):
            if attempt:
                self._pause(_RETRY_S)
            for place in self._places(reader):
                found = look(place)
                if found is not None:
                    return found
        return None

    def _places(self, reader: str) -> Iterator[Place]:
        return (place for place in reversed(self._ingest.places()) if place.reader == reader)


def _tool_use(call: CallContext) -> str | None:
    use = call.meta.get("claudecode/toolUseId")
    return use if isinstance(use, str) and use else None


def _calling(found: tuple[SessionId, SessionId | None] | None) -> Calling | None:
    if found is None:
        return None
    session, agent = found
    return Calling(agent or session, _TOOL_USE, 1.0, f"sub-agent of {session}" if agent else "")


def _claude_session(place: Place, use: str, *, running: bool) -> tuple[SessionId, SessionId | None] | None:
    from ovillo.readers.claude_code import (
        session_of_tool_use,
    )  # start-up: contexts are made before any reader is needed

    return session_of_tool_use(place, use, running=running)


def _opencode_session(place: Place, call: CallContext, where: str | None) -> SessionId | None:
    from ovillo.readers.opencode.running import running_call  # start-up, as above

    return running_call(place, call.tool, call.arguments, where)


def _reader_of(client_name: str | None) -> str | None:
    name = (client_name or "").lower()
    return next((reader for client, reader in _READER_OF_CLIENT.items() if name.startswith(client)), None)
