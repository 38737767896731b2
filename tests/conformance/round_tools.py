"""Tools that ask within their answer (``input_required``), in one or several rounds, with and without state.

Owns what each of the suite's tools asks and when it has enough.
"""

from __future__ import annotations

import json
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from tests.conformance import contents
from tests.conformance.contract import Answer, Context, FixtureTool, Run
from tests.conformance.rounds import (
    ask,
    check_rounds,
    filled_in,
    form,
    given,
    listed_roots,
    roots,
    sampled,
    sampling,
)

_SAMPLING = types.ClientCapabilities(sampling=types.SamplingCapability())
_ELICITATION = types.ClientCapabilities(elicitation=types.ElicitationCapability())
_NAME = "What is your name?"


async def _elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    name = filled_in(given(params), "user_name", "name")
    return contents.said(f"Hello, {name}!") if name else ask({"user_name": form(_NAME, "name")})


async def _sampling(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    capital = sampled(given(params), "capital_question")
    if capital is None:
        return ask({"capital_question": sampling("What is the capital of France?", 100)})
    return contents.said(f"The model said: {capital}")


async def _list_roots(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    found = listed_roots(given(params), "client_roots")
    return ask({"client_roots": roots()}) if found is None else contents.said(f"Roots: {', '.join(found)}")


async def _request_state(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """For ``..._tampered_state`` too: what comes back is checked before this runs."""
    confirmed = filled_in(given(params), "confirm", "ok")
    if confirmed is None or _state(params).get("asked") != "confirm":
        return ask({"confirm": form("Please confirm", "ok", "boolean")}, json.dumps({"asked": "confirm"}))
    return contents.said(f"state-ok: the state came back as it was, confirmed={confirmed}")


async def _multiple_inputs(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    responses = given(params)
    name = filled_in(responses, "user_name", "name")
    greeting = sampled(responses, "greeting")
    found = listed_roots(responses, "client_roots")
    if not name or greeting is None or found is None or not _state(params):
        everything: types.InputRequests = {
            "user_name": form(_NAME, "name"),
            "greeting": sampling("Generate a greeting", 50),
            "client_roots": roots(),
        }
        return ask(everything, json.dumps({"asked": sorted(everything)}))
    return contents.said(f"{greeting} ({name}; {', '.join(found)})")


async def _multi_round(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    responses, state = given(params), _state(params)
    name = state.get("name") or (filled_in(responses, "step1", "name") if state else None)
    if not name:
        return ask({"step1": form("Step 1: What is your name?", "name")}, json.dumps({"step": 1}))
    color = filled_in(responses, "step2", "color")
    if not color or "name" not in state:
        return ask(
            {"step2": form("Step 2: What is your favorite color?", "color")}, json.dumps({"step": 2, "name": name})
        )
    return contents.said(f"{name} likes {color}.")


async def _capabilities(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """Asks only for what the client said that it can do."""
    responses = given(params)
    requests: types.InputRequests = {}
    if ctx.session.check_client_capability(_SAMPLING):
        requests["greeting"] = sampling("Generate a greeting", 50)
    if ctx.session.check_client_capability(_ELICITATION):
        requests["user_name"] = form(_NAME, "name")
    if missing := {key: request for key, request in requests.items() if key not in responses}:
        return ask(missing)
    return contents.said(f"Got all of: {', '.join(sorted(requests)) or 'nothing to ask for'}")


async def _streaming_elicitation(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    """On the stream of a request there may be notifications and the answer, never a request of the server's."""
    await ctx.session.report_progress(0, 1)
    return await _elicitation(ctx, params)


async def _missing_capability(ctx: Context, params: types.CallToolRequestParams) -> Answer:
    if not ctx.session.check_client_capability(_SAMPLING):
        data = types.MissingRequiredClientCapabilityErrorData(required_capabilities=_SAMPLING)
        raise MCPError(
            types.MISSING_REQUIRED_CLIENT_CAPABILITY,
            "The client did not declare the capability 'sampling'.",
            data.model_dump(by_alias=True, mode="json", exclude_none=True),
        )
    return contents.said("The client can sample.")


def _state(params: types.CallToolRequestParams) -> dict[str, Any]:
    """What an earlier round left; empty in the first one."""
    return json.loads(params.request_state) if params.request_state else {}


def _in_rounds(run: Run) -> Run:
    async def checked(ctx: Context, params: types.CallToolRequestParams) -> Answer:
        check_rounds(ctx)
        return await run(ctx, params)

    return checked


_PREFIX = "test_input_required_result_"

TOOLS = (
    FixtureTool(f"{_PREFIX}elicitation", "Needs a name from the user", _in_rounds(_elicitation)),
    FixtureTool(f"{_PREFIX}sampling", "Needs an answer of the client's model", _in_rounds(_sampling)),
    FixtureTool(f"{_PREFIX}list_roots", "Needs the client's roots", _in_rounds(_list_roots)),
    FixtureTool(f"{_PREFIX}request_state", "Needs a confirmation and its state back", _in_rounds(_request_state)),
    FixtureTool(f"{_PREFIX}multiple_inputs", "Needs three things at once", _in_rounds(_multiple_inputs)),
    FixtureTool(f"{_PREFIX}multi_round", "Needs two things, one after the other", _in_rounds(_multi_round)),
    FixtureTool(f"{_PREFIX}tampered_state", "Refuses a state it did not give", _in_rounds(_request_state)),
    FixtureTool(f"{_PREFIX}capabilities", "Asks for what the client can do", _in_rounds(_capabilities)),
    FixtureTool("test_streaming_elicitation", "Asks after a word on progress", _in_rounds(_streaming_elicitation)),
    FixtureTool("test_missing_capability", "Refuses clients that cannot sample", _missing_capability),
)
