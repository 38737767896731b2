"""The tool ``context_retrieve``: what was put down earlier (Continuity Protocol 2.2.2)."""

from __future__ import annotations

import json
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from ovillo.interfaces.tools import shapes
from ovillo.interfaces.tools.contract import Answer, Call, Tool
from ovillo.interfaces.tools.room import Room, clip
from ovillo.interfaces.tools.schema import NAMED
from ovillo.interfaces.tools.working_place import caller_of
from ovillo.model.clock import to_iso
from ovillo.model.limits import MAX_ANSWER_TOKENS
from ovillo.security.principals import CONTEXT_READ

_WHY = {
    "expired": "its time to live is over",
    "not_found": "nothing is stored under this key there",
}
#: Of a value too large for an answer, this much is shown (bytes).
_EXCERPT = 8_000
_KEYS_NAMED = 20


class Input(Struct, kw_only=True):
    key: Annotated[str, Meta(description="Name it was stored under")]
    namespace: Annotated[str | None, Meta(description="Context to look in; the current one when left out")] = None


class Output(Struct, kw_only=True):
    success: bool
    namespace: str
    value: Annotated[dict[str, Any] | UnsetType, NAMED] = UNSET
    stored_at: Annotated[str | UnsetType, NAMED] = UNSET
    expires_at: Annotated[str | UnsetType, NAMED] = UNSET
    #: ``expired``, ``not_found`` or ``too_large``.
    reason: str | UnsetType = UNSET
    #: The beginning of a value too large for an answer.
    excerpt: str | UnsetType = UNSET


def handle(call: Call, args: Input) -> Answer:
    caller = caller_of(call)
    found = call.services.contexts.retrieve(call.namespace, caller, args.key, context=args.namespace)
    entry = found.entry
    if entry is None:
        reason = found.reason or "not_found"
        text = (
            f"No {args.key!r} in the context {found.context!r}: {_WHY[reason]}.{_others(call, caller, found.context)}"
        )
        return Answer(Output(success=False, namespace=found.context, reason=reason), text)
    written = json.dumps(entry.value, ensure_ascii=False)
    output = Output(
        success=True,
        namespace=entry.context,
        value=dict(entry.value),
        stored_at=to_iso(entry.stored_at) or UNSET,
        expires_at=to_iso(entry.expires_at) or UNSET,
    )
    heading = f"{entry.key!r} of the context {entry.context!r}, stored {output.stored_at}. {shapes.NOTICE}"
    if Room(MAX_ANSWER_TOKENS).take(written, output):
        return Answer(output, f"{heading}\n{written}")
    output.success, output.value, output.reason = False, UNSET, "too_large"
    output.excerpt, left_out = clip(written, _EXCERPT)
    text = (
        f"{heading} It is too large for an answer ({left_out} characters left out); GET /api/contexts gives it whole."
    )
    return Answer(output, f"{text}\n{output.excerpt}")


def _others(call: Call, caller: str, context: str) -> str:
    entries = call.services.contexts.entries(call.namespace, caller, context=context)
    keys = ", ".join(entry.key for entry in entries[:_KEYS_NAMED])
    if keys:
        return f" It holds: {keys}."
    names = ", ".join(list(call.services.contexts.names(call.namespace))[:_KEYS_NAMED])
    return f" Contexts that hold something: {names}." if names else " Nothing is stored in any context."


TOOL = Tool(
    name="context_retrieve",
    title="Retrieve context",
    description=(
        "Gives back what context_store kept under a key, from the current context or the one named by namespace. An entry "
        "whose time to live is over, or that never was, gives success false with the reason."
    ),
    input=Input,
    output=Output,
    handler=handle,
    toolset="continuity",
    scope=CONTEXT_READ,
)
