"""Tools that ask the client while they run: the way of revisions before 2026-07-28.

Owns requests from server to client. Later revisions ask within the answer (``round_tools``).
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.message import ServerMessageMetadata

from tests.conformance import contents
from tests.conformance.contract import Context, FixtureTool, Run, argument, one_string

_MOST_TOKENS = 100

_USER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"},
    },
    "required": ["username", "email"],
}

_DEFAULTS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": True},
    },
    "required": [],
}


def _titled(first: str, *titles: str) -> list[dict[str, str]]:
    return [{"const": f"{first}{number}", "title": title} for number, title in enumerate(titles, 1)]


_OPTIONS = ["option1", "option2", "option3"]
_ENUMS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": _OPTIONS},
        "titledSingle": {
            "type": "string",
            "oneOf": _titled("value", "First Option", "Second Option", "Third Option"),
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": _OPTIONS}},
        "titledMulti": {
            "type": "array",
            "items": {"anyOf": _titled("value", "First Choice", "Second Choice", "Third Choice")},
        },
    },
    "required": [],
}


async def _sampling(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    if refusal := _cannot_ask(ctx, types.ClientCapabilities(sampling=types.SamplingCapability()), "sampling"):
        return refusal
    asked = types.SamplingMessage(role="user", content=contents.text(argument(params, "prompt")))
    result = await ctx.session.send_request(
        types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[asked], max_tokens=_MOST_TOKENS)),
        types.CreateMessageResult,
        metadata=ServerMessageMetadata(related_request_id=ctx.request_id),
    )
    replied = result.content.text if isinstance(result.content, types.TextContent) else f"({result.content.type})"
    return contents.said(f"LLM response: {replied}")


async def _elicitation(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    return await _elicit(ctx, argument(params, "message"), _USER, "User response: action={}, content={}")


def _form(message: str, schema: dict[str, Any]) -> Run:
    async def run(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return await _elicit(ctx, message, schema, "Elicitation completed: action={}, content={}")

    return run


async def _elicit(ctx: Context, message: str, schema: dict[str, Any], report: str) -> types.CallToolResult:
    if refusal := _cannot_ask(ctx, types.ClientCapabilities(elicitation=types.ElicitationCapability()), "elicitation"):
        return refusal
    result = await ctx.session.elicit_form(message, schema, ctx.request_id)
    return contents.said(report.format(result.action, result.content or {}))


def _cannot_ask(ctx: Context, needed: types.ClientCapabilities, name: str) -> types.CallToolResult | None:
    if not ctx.session.can_send_request:
        return contents.failed(f"This revision has no requests from server to client; {name} comes in rounds.")
    if not ctx.session.check_client_capability(needed):
        return contents.failed(f"The client does not support {name}.")
    return None


TOOLS = (
    FixtureTool("test_sampling", "Asks the client's model", _sampling, one_string("prompt", "What to ask the model")),
    FixtureTool("test_elicitation", "Asks the user", _elicitation, one_string("message", "What to ask the user")),
    FixtureTool(
        "test_elicitation_sep1034_defaults",
        "Asks the user with defaults of every primitive type",
        _form("Please review the defaults.", _DEFAULTS),
    ),
    FixtureTool(
        "test_elicitation_sep1330_enums",
        "Asks the user with every kind of choice",
        _form("Please choose.", _ENUMS),
    ),
)
