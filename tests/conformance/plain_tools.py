"""Tools that answer by themselves: every kind of content, an error, progress, log messages, and schemas that must survive.

Owns no exchange with the client; ``asking_tools`` and ``round_tools`` do.
"""

from __future__ import annotations

from typing import Any

import anyio
import mcp_types as types
from mcp.server.connection import allowed_log_levels

from tests.conformance import contents
from tests.conformance.contract import Context, FixtureTool, Run, argument, one_string

#: Between messages of one call, so that a client can take them one by one (seconds; the suite's figure).
_PAUSE_S = 0.05
_LOGGER = "conformance"
_LOG_LINES = ("Tool execution started", "Tool processing data", "Tool execution completed")

#: As in the suite: these key words have to arrive at the client as they are.
_SCHEMA_2020_12: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


def _always(result: types.CallToolResult) -> Run:
    async def run(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        return result

    return run


async def _progress(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    for share in (0, 50, 100):
        await ctx.session.report_progress(share, 100)
        if share < 100:
            await anyio.sleep(_PAUSE_S)
    return contents.said("Reported progress from 0 to 100.")


async def _logging(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    for number, line in enumerate(_LOG_LINES):
        if number:
            await anyio.sleep(_PAUSE_S)
        if "info" in allowed_log_levels(ctx.protocol_version, ctx.meta):
            message = types.LoggingMessageNotificationParams(level="info", data=line, logger=_LOGGER)
            await ctx.session.send_notification(
                types.LoggingMessageNotification(params=message), related_request_id=ctx.request_id
            )
    return contents.said("Sent what log messages the client wants.")


async def _reconnection(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    """Without a store of events, as here, the SDK gives no way to close the stream: the answer comes on it."""
    if ctx.close_sse_stream is not None:
        await ctx.close_sse_stream()
        await anyio.sleep(_PAUSE_S)
    return contents.said("The answer after the stream was closed, where it can be.")


async def _header(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
    return contents.said(f"region={argument(params, 'region')}")


TOOLS = (
    FixtureTool(
        "test_simple_text",
        "Answers with one text",
        _always(contents.said("This is a simple text response for testing.")),
    ),
    FixtureTool("test_image_content", "Answers with an image", _always(contents.answer(contents.image()))),
    FixtureTool("test_audio_content", "Answers with a sound", _always(contents.answer(contents.audio()))),
    FixtureTool(
        "test_embedded_resource",
        "Answers with an embedded resource",
        _always(
            contents.answer(contents.embedded("test://embedded-resource", "This is an embedded resource content."))
        ),
    ),
    FixtureTool(
        "test_multiple_content_types",
        "Answers with a text, an image and a resource",
        _always(
            contents.answer(
                contents.text("Multiple content types test:"),
                contents.image(),
                contents.embedded("test://mixed-content-resource", '{"test":"data","value":123}', "application/json"),
            )
        ),
    ),
    FixtureTool(
        "test_error_handling",
        "Always fails",
        _always(contents.failed("This tool intentionally returns an error for testing")),
    ),
    FixtureTool("test_tool_with_progress", "Reports progress 0, 50 and 100 of 100", _progress),
    FixtureTool("test_tool_with_logging", "Sends three log messages", _logging),
    FixtureTool("test_logging_tool", "Sends log messages if the request wants some", _logging),
    FixtureTool("test_reconnection", "Closes its stream before it answers, where it can", _reconnection),
    FixtureTool(
        "test_x_mcp_header",
        "Has an argument that is a header too",
        _header,
        one_string("region", "Comes in the header Mcp-Param-Region as well", **{"x-mcp-header": "Region"}),
    ),
    FixtureTool(
        "json_schema_2020_12_tool",
        "Has an input schema with key words of JSON Schema 2020-12",
        _always(contents.said("The arguments were accepted.")),
        _SCHEMA_2020_12,
    ),
)
