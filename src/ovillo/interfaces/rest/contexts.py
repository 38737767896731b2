"""``/api/contexts``: entries by key, and switching contexts (Continuity Protocol 2.2).

Owns the requests; what a context is stands in ``ovillo.memory.contexts``.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct

from ovillo.interfaces.http.endpoints import Endpoint, Exchange, Reply
from ovillo.interfaces.tools import context_store, context_switch
from ovillo.memory.contexts import MAX_TTL_S
from ovillo.model.clock import to_iso
from ovillo.model.coordination import ContextEntry
from ovillo.model.errors import NotFound
from ovillo.security.principals import CONTEXT_READ, CONTEXT_WRITE

_TAG = "Contexts"


class Where(Struct, kw_only=True, forbid_unknown_fields=True):
    #: The context; the caller's current one when left out.
    namespace: str | None = None
    #: Whose current context is meant; the principal's own when left out.
    session_id: str | None = None


class NewEntry(Struct, kw_only=True, forbid_unknown_fields=True):
    value: dict[str, Any]
    ttl: Annotated[int, Meta(ge=1, le=MAX_TTL_S)] | None = None


class Switch(Struct, kw_only=True, forbid_unknown_fields=True):
    target_context: str
    preserve_current: bool = True
    session_id: str | None = None


class Entry(Struct, kw_only=True):
    success: bool
    key: str
    namespace: str
    value: dict[str, Any]
    stored_at: str | None
    expires_at: str | None


class Held(Struct, kw_only=True):
    """``entries`` are keys of the context asked for; ``contexts`` counts the entries of each."""

    current_context: str
    namespace: str
    entries: list[str]
    contexts: dict[str, int]


def _caller(call: Exchange[Any, Any], session_id: str | None) -> str:
    return session_id or f"principal {call.principal.name}"


def _list(call: Exchange[Where, None]) -> Reply:
    contexts, caller = call.services.contexts, _caller(call, call.query.session_id)
    current = contexts.current(call.namespace, caller)
    entries = contexts.entries(call.namespace, caller, context=call.query.namespace)
    held = Held(
        current_context=current,
        namespace=call.query.namespace or current,
        entries=[entry.key for entry in entries],
        contexts=contexts.names(call.namespace),
    )
    return Reply(held)


def _put(call: Exchange[Where, NewEntry]) -> Reply:
    entry = call.services.contexts.store(
        call.namespace,
        _caller(call, call.query.session_id),
        call.path["key"],
        call.body.value,
        ttl_s=call.body.ttl,
        context=call.query.namespace,
    )
    stored = context_store.Output(
        success=True,
        key=entry.key,
        namespace=entry.context,
        stored_at=to_iso(entry.stored_at),
        expires_at=to_iso(entry.expires_at) or UNSET,
    )
    return Reply(stored)


def _get(call: Exchange[Where, None]) -> Reply:
    caller, key = _caller(call, call.query.session_id), call.path["key"]
    found = call.services.contexts.retrieve(call.namespace, caller, key, context=call.query.namespace)
    if found.entry is None:
        raise _missing(key, found.context, found.reason)
    return Reply(_shown(found.entry))


def _delete(call: Exchange[Where, None]) -> Reply:
    caller, key = _caller(call, call.query.session_id), call.path["key"]
    if not call.services.contexts.forget(call.namespace, caller, key, context=call.query.namespace):
        raise _missing(key, call.query.namespace or call.services.contexts.current(call.namespace, caller), None)
    return Reply(None, 204)


def _switch(call: Exchange[Any, Switch]) -> Reply:
    given = call.body
    done = call.services.contexts.switch(
        call.namespace, _caller(call, given.session_id), given.target_context, preserve_current=given.preserve_current
    )
    switched = context_switch.Output(
        success=True,
        previous_context=done.previous,
        context_loaded=done.loaded,
        entries=done.entries,
        dropped=done.dropped,
    )
    return Reply(switched)


def _shown(entry: ContextEntry) -> Entry:
    return Entry(
        success=True,
        key=entry.key,
        namespace=entry.context,
        value=dict(entry.value),
        stored_at=to_iso(entry.stored_at),
        expires_at=to_iso(entry.expires_at),
    )


def _missing(key: str, context: str, reason: str | None) -> NotFound:
    why = "has expired" if reason == "expired" else "is not stored"
    return NotFound(
        f"{key!r} {why} in the context {context!r}.", hint="GET /api/contexts shows what is held, and where."
    )


_NONE = {404: "Nothing under this key, or its time is over."}
_PATH = "/api/contexts/{key}"

ENDPOINTS = (
    Endpoint(
        "GET",
        "/api/contexts",
        "listContexts",
        "Contexts and the keys in one of them",
        _TAG,
        CONTEXT_READ,
        _list,
        query=Where,
        reply=Held,
    ),
    Endpoint(
        "POST",
        "/api/contexts/switch",
        "switchContext",
        "Make another context the current one",
        _TAG,
        CONTEXT_WRITE,
        _switch,
        body=Switch,
        reply=context_switch.Output,
    ),
    Endpoint(
        "PUT",
        _PATH,
        "putContextEntry",
        "Store a value under a key",
        _TAG,
        CONTEXT_WRITE,
        _put,
        query=Where,
        body=NewEntry,
        reply=context_store.Output,
    ),
    Endpoint(
        "GET",
        _PATH,
        "getContextEntry",
        "The value under a key",
        _TAG,
        CONTEXT_READ,
        _get,
        query=Where,
        reply=Entry,
        also=_NONE,
    ),
    Endpoint(
        "DELETE",
        _PATH,
        "deleteContextEntry",
        "Remove a key",
        _TAG,
        CONTEXT_WRITE,
        _delete,
        query=Where,
        status=204,
        also=_NONE,
    ),
)
