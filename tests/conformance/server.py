"""The fixture as an MCP server: the SDK's low-level ``Server`` set up as the real one is.

Owns the handlers and the catalogue of the fixture's tools.
"""

from __future__ import annotations

import logging
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, PromptsListChanged, ToolsListChanged
from mcp.shared.exceptions import MCPError

from ovillo import __version__
from ovillo.interfaces.mcp.server import CACHE_HINTS, not_found_code, sealing
from tests.conformance import asking_tools, contents, plain_tools, prompts, resources, round_tools
from tests.conformance.contract import Answer, Context, FixtureTool

_log = logging.getLogger(__name__)

NAME = "ovillo-conformance-fixture"


class ConformanceServer:
    def __init__(self, state_key: bytes) -> None:
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus)
        tools = (*plain_tools.TOOLS, *asking_tools.TOOLS, *round_tools.TOOLS, *self._triggers())
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self.mcp = self._build(state_key)

    def end_subscriptions(self) -> None:
        """Open subscriptions end well: the server is going to. From the event loop."""
        self._listening.close()

    def _build(self, state_key: bytes) -> Server[Any]:
        schemas = {tool.name: tool.schema for tool in self._tools.values()}
        server: Server[Any] = Server(
            NAME,
            version=__version__,
            instructions="A fixture for the MCP conformance suite. It remembers nothing.",
            cache_hints=CACHE_HINTS,
            get_tool_input_schema=schemas.get,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=_list_resources,
            on_list_resource_templates=_list_templates,
            on_read_resource=_read_resource,
            on_subscribe_resource=_watch,
            on_unsubscribe_resource=_watch,
            on_subscriptions_listen=self._listening,
            on_list_prompts=_list_prompts,
            on_get_prompt=_get_prompt,
            on_completion=_complete,
        )
        # As an argument of the constructor it would warn: later revisions have no such method.
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)
        server.middleware.append(sealing(state_key, NAME))
        return server

    async def _list_tools(self, ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[tool.definition() for tool in self._tools.values()])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> Answer:
        tool = self._tools.get(params.name)
        if tool is None:
            return contents.failed(f"No tool named {params.name!r}.")
        try:
            return await tool.run(ctx, params)
        except MCPError:
            raise
        except Exception as error:  # noqa: BLE001  The request edge, as in the registry of the real tools: a result.
            _log.exception("%s failed", tool.name)
            return contents.failed(f"{tool.name} failed ({type(error).__name__}).")

    def _triggers(self) -> tuple[FixtureTool, FixtureTool]:
        """Nothing changes; those who listen are told that something did."""

        async def tools_changed(ctx: Context, params: types.CallToolRequestParams) -> Answer:
            await self._bus.publish(ToolsListChanged())
            return contents.said("Told that the tools changed.")

        async def prompts_changed(ctx: Context, params: types.CallToolRequestParams) -> Answer:
            await self._bus.publish(PromptsListChanged())
            return contents.said("Told that the prompts changed.")

        return (
            FixtureTool("test_trigger_tool_change", "Tells listeners that the tools changed", tools_changed),
            FixtureTool("test_trigger_prompt_change", "Tells listeners that the prompts changed", prompts_changed),
        )


async def _list_resources(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    return types.ListResourcesResult(resources=resources.listed())


async def _list_templates(
    ctx: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    return types.ListResourceTemplatesResult(resource_templates=resources.templates())


async def _read_resource(ctx: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    found = resources.read(str(params.uri))
    if found is None:
        raise _no_resource(ctx, str(params.uri))
    return types.ReadResourceResult(contents=[found])


async def _watch(
    ctx: Context, params: types.SubscribeRequestParams | types.UnsubscribeRequestParams
) -> types.EmptyResult:
    """The fixture's resources never change, so nobody has to be remembered."""
    if resources.read(str(params.uri)) is None:
        raise _no_resource(ctx, str(params.uri))
    return types.EmptyResult()


def _no_resource(ctx: Context, uri: str) -> MCPError:
    return MCPError(not_found_code(ctx), f"No resource {uri!r}.", {"uri": uri})


async def _list_prompts(ctx: Context, params: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
    return types.ListPromptsResult(prompts=list(prompts.LISTED))


async def _get_prompt(
    ctx: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    return prompts.get(ctx, params)


async def _complete(ctx: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    return prompts.complete(params)


async def _set_level(ctx: Context, params: types.SetLevelRequestParams) -> types.EmptyResult:
    """Accepted; the fixture sends three messages of one level, on demand only."""
    return types.EmptyResult()
