"""``execute`` on a pipe that also speaks MCP: a filter between the transport and the SDK.

Owns one thing: requests for ``execute`` are answered here, before, after and without the handshake that the SDK insists
on; everything else goes through untouched. What is no JSON-RPC at all gets its error here too, since the SDK drops it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared._stream_protocols import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from ovillo.interfaces.tools import execute

Inbound = SessionMessage | Exception
#: Gives the response to a request, or ``None``; never raises.
Respond = Callable[[Mapping[str, Any]], Awaitable[execute.Answer | None]]

#: Requests of one connection that run at once; further ones are not read meanwhile.
_AT_ONCE = 16
#: A script may write a line and close its end: what is still running gets this long (seconds).
_LAST_ANSWERS_S = 10.0


async def relay(
    read: ReadStream[Inbound],
    to_sdk: MemoryObjectSendStream[Inbound],
    write: WriteStream[SessionMessage],
    respond: Respond,
) -> None:
    """Runs until ``read`` ends and the last answers are written; ``to_sdk`` and ``write`` are closed then."""
    room = anyio.Semaphore(_AT_ONCE)

    async def answer(request: Mapping[str, Any]) -> None:
        try:
            response = await respond(request)
            if response is not None:
                await _send(write, response)
        finally:
            room.release()

    async with write, anyio.create_task_group() as running:
        async with to_sdk:
            async for item in read:
                request = _execute_in(item)
                if request is not None:
                    await room.acquire()
                    running.start_soon(answer, request)
                elif isinstance(item, Exception) and (refusal := _refusal(item)) is not None:
                    await _send(write, refusal)
                else:
                    try:
                        await to_sdk.send(item)
                    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
                        break
        running.cancel_scope.deadline = anyio.current_time() + _LAST_ANSWERS_S


def _execute_in(item: Inbound) -> Mapping[str, Any] | None:
    if isinstance(item, SessionMessage):
        message = item.message
        if isinstance(message, types.JSONRPCRequest | types.JSONRPCNotification) and message.method == execute.METHOD:
            return message.model_dump(by_alias=True, exclude_unset=True)
    return None


def _refusal(error: Exception) -> execute.Answer | None:
    """What is wrong with a line that is no JSON-RPC message; ``None`` for an empty one."""
    if not isinstance(error, ValidationError):
        return None
    first = error.errors(include_url=False, include_context=False)[0]
    given = first.get("input")
    if first["type"] == "json_invalid":
        if isinstance(given, str | bytes) and not given.strip():
            return None
        return execute.failure(None, execute.PARSE_ERROR, "The line is not JSON.")
    if isinstance(given, list):
        return execute.failure(None, execute.INVALID_REQUEST, "Batches are not served; send one request a line.")
    return execute.failure(None, execute.INVALID_REQUEST, "The line is no JSON-RPC 2.0 message.")


async def _send(write: WriteStream[SessionMessage], response: execute.Answer) -> None:
    message = types.jsonrpc_message_adapter.validate_python(response, by_name=False)
    with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):  # the client is gone
        await write.send(SessionMessage(message))
