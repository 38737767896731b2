"""Asking within the answer, the way of 2026-07-28: what to ask for, and what came back.

Owns these requests and reading their responses, for tools and prompts. The state between rounds is sealed by the SDK's
boundary in front of the handlers, as in the real server.
"""

from __future__ import annotations

from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance import contents
from tests.conformance.contract import Context, has_rounds

Responses = dict[str, types.InputResponse]


def form(message: str, name: str, kind: str = "string") -> types.ElicitRequest:
    """Asks the user for one value."""
    schema: dict[str, Any] = {"type": "object", "properties": {name: {"type": kind}}, "required": [name]}
    return types.ElicitRequest(params=types.ElicitRequestFormParams(message=message, requested_schema=schema))


def sampling(prompt: str, most_tokens: int) -> types.CreateMessageRequest:
    """Asks the client's model."""
    asked = types.SamplingMessage(role="user", content=contents.text(prompt))
    return types.CreateMessageRequest(params=types.CreateMessageRequestParams(messages=[asked], max_tokens=most_tokens))


def roots() -> types.ListRootsRequest:
    return types.ListRootsRequest(params=types.RequestParams())


def ask(requests: types.InputRequests, state: str | None = None) -> types.InputRequiredResult:
    return types.InputRequiredResult(input_requests=requests, request_state=state)


def check_rounds(ctx: Context) -> None:
    """Raises MCPError where the revision knows no rounds."""
    if not has_rounds(ctx):
        raise MCPError(
            types.INVALID_PARAMS, f"Needs revision 2026-07-28; this connection speaks {ctx.protocol_version}."
        )


def given(params: types.CallToolRequestParams | types.GetPromptRequestParams) -> Responses:
    return dict(params.input_responses or {})


def filled_in(responses: Responses, key: str, name: str) -> Any:
    """The value the user gave, ``None`` when the response is missing, refused or another kind."""
    response = responses.get(key)
    if isinstance(response, types.ElicitResult) and response.action == "accept":
        return (response.content or {}).get(name)
    return None


def sampled(responses: Responses, key: str) -> str | None:
    response = responses.get(key)
    if isinstance(response, types.CreateMessageResult) and isinstance(response.content, types.TextContent):
        return response.content.text
    return None


def listed_roots(responses: Responses, key: str) -> list[str] | None:
    response = responses.get(key)
    return [str(root.uri) for root in response.roots] if isinstance(response, types.ListRootsResult) else None
