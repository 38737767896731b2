"""A tool that counts the masked badges of a session."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from ovillo.interfaces.tools.contract import Answer, Call, Tool
from ovillo.interfaces.tools.session_lookup import find_session
from ovillo.model.quoting import named

_MARKER = "[redacted:acme_badge:"
_PAGE = 200


class Input(Struct, forbid_unknown_fields=True):
    session_id: Annotated[str, Meta(description="The session's id, the beginning of one, or current")]


class Output(Struct):
    session_id: str
    badges: int


def _count(call: Call, given: Input) -> Answer:
    session = find_session(call, given.session_id)
    badges, cursor = 0, None
    while True:
        page = call.services.history.page(call.namespace, session.id, limit=_PAGE, cursor=cursor)
        badges += sum(part.text.count(_MARKER) for message in page.messages for part in message.parts)
        cursor = page.next_cursor
        if cursor is None:
            return Answer(Output(session.id, badges), f"Session {named(session.id)} names badges {badges} times.")


TOOL = Tool(
    name="count_badges",
    title="Count badges",
    description="How often a session names a badge of Acme. Their numbers are masked, so that nobody sees which.",
    input=Input,
    output=Output,
    handler=_count,
    toolset="context",
)
