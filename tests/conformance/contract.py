"""What a tool of the fixture is.

Owns the shape and the schemas that several tools share.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext

Context = ServerRequestContext[Any, Any]
Answer = types.CallToolResult | types.InputRequiredResult
Run = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

NOTHING: Mapping[str, Any] = {"type": "object", "properties": {}, "additionalProperties": False}
#: From this revision on a server asks within its answer; before, by requests of its own.
FIRST_WITH_ROUNDS = "2026-07-28"


@dataclass(frozen=True, slots=True)
class FixtureTool:
    name: str
    description: str
    run: Run
    schema: Mapping[str, Any] = field(default_factory=lambda: NOTHING)

    def definition(self) -> types.Tool:
        return types.Tool(name=self.name, description=self.description, input_schema=dict(self.schema))


def one_string(name: str, description: str, **more: Any) -> dict[str, Any]:
    """The schema of a tool with one required text argument; ``more`` goes to the argument."""
    return {
        "type": "object",
        "properties": {name: {"type": "string", "description": description, **more}},
        "required": [name],
        "additionalProperties": False,
    }


def has_rounds(ctx: Context) -> bool:
    return ctx.protocol_version >= FIRST_WITH_ROUNDS


def argument(params: types.CallToolRequestParams, name: str) -> str:
    """A text argument, empty when it is missing."""
    given = (params.arguments or {}).get(name)
    return given if isinstance(given, str) else ""
