"""``execute`` on stdio, POST, WebSocket and /mcp: its envelope, and that it gives what tools/call gives."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import ClientConnection

from ovillo.interfaces.tools import execute, schema
from ovillo.interfaces.tools.contract import ToolResult
from ovillo.interfaces.tools.registry import Registry, all_tools
from ovillo.security.principals import LOCAL, ROLES, Principal
from tests.interfaces.served import Served, environment, serving

REGISTRY = Registry.choose(("all",))
OPENING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
}
#: Answers that differ from one call to the next by their nature: compared by shape.
_LIVELY = {"system_status", "memory_optimize", "recall", "retrieve_relevant_context"}
#: Arguments that schemas cannot tell.
_KNOWN = {"session_id": "known", "sessionID": "known", "target_session": "known", "key": "a", "name": "a name"}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    with serving(home, "--toolsets", "all") as server:
        server.session("known")
        server.append("known", "Fix the parser of dates in src/dates.py", "k1")
        yield server


def request(tool: Any, parameters: Any = None, request_id: Any = "id-1") -> dict[str, Any]:
    return {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": "execute",
        "params": {"tool": tool, "parameters": parameters or {}},
    }


# --- the envelope


def answered(raw: Any, principal: Principal = LOCAL, result: ToolResult | None = None) -> Any:
    raw = raw if isinstance(raw, str | bytes) else json.dumps(raw)
    return execute.rpc(
        REGISTRY, principal, lambda *_: result or ToolResult({"total": 0, "content": "own"}, "text"), raw
    )


@pytest.mark.requirement("EXEC-1")
@pytest.mark.parametrize(
    ("raw", "code", "request_id"),
    [
        ("{", execute.PARSE_ERROR, None),
        (b"\xff", execute.PARSE_ERROR, None),
        ("", execute.PARSE_ERROR, None),
        ("[" * 100_000, execute.PARSE_ERROR, None),
        ("[]", execute.INVALID_REQUEST, None),
        ([request("list_sessions")], execute.INVALID_REQUEST, None),
        ("5", execute.INVALID_REQUEST, None),
        ({"id": 1, "method": "execute"}, execute.INVALID_REQUEST, 1),
        ({"jsonrpc": "1.0", "id": 1, "method": "execute"}, execute.INVALID_REQUEST, 1),
        ({"jsonrpc": "2.0", "id": "x", "method": "tools/call"}, execute.INVALID_REQUEST, "x"),
        ({"jsonrpc": "2.0", "id": {}, "method": "execute"}, execute.INVALID_REQUEST, None),
        ({"jsonrpc": "2.0", "id": True, "method": "execute"}, execute.INVALID_REQUEST, None),
        ({"jsonrpc": "2.0", "id": 2, "method": "execute"}, execute.INVALID_PARAMS, 2),
        ({"jsonrpc": "2.0", "id": 2, "method": "execute", "params": []}, execute.INVALID_PARAMS, 2),
        (request(5), execute.INVALID_PARAMS, "id-1"),
        (request("list_sessions", [1]), execute.INVALID_PARAMS, "id-1"),
        (request("list_sessions", {"limit": "many"}), execute.INVALID_PARAMS, "id-1"),
    ],
)
def test_a_request_that_cannot_be_carried_out_gets_the_code_of_its_mistake(
    raw: Any, code: int, request_id: Any
) -> None:
    answer = answered(raw)
    assert (answer["error"]["code"], answer["id"], answer["jsonrpc"]) == (code, request_id, "2.0")
    assert answer["error"]["message"]


@pytest.mark.requirement("EXEC-1")
def test_near_names_are_offered_for_tools_and_parameters() -> None:
    error = answered(request("lst_sessions"))["error"]
    assert (error["code"], error["data"]["near"][0]) == (execute.INVALID_PARAMS, "list_sessions")
    error = answered(request("list_sessions", {"sesionName": "x"}))["error"]
    assert (error["code"], error["data"]["near"]) == (execute.INVALID_PARAMS, ["sessionName"])


@pytest.mark.requirement("EXEC-1")
@pytest.mark.parametrize("request_id", ["a-1", "", 0, 7, -1, 1.5, None])
def test_the_id_comes_back_as_it_was_and_a_notification_gets_no_answer(request_id: Any) -> None:
    assert answered(request("list_sessions", request_id=request_id))["id"] == request_id
    silent = request("list_sessions")
    del silent["id"]
    called: list[str] = []
    call: Callable[..., ToolResult] = lambda name, *_: called.append(name) or ToolResult({}, "")  # noqa: E731
    assert execute.rpc(REGISTRY, LOCAL, call, json.dumps(silent)) is None
    assert called == ["list_sessions"]


@pytest.mark.requirement("EXEC-4")
def test_a_good_answer_carries_its_fields_at_the_top_unless_they_clash() -> None:
    result = answered(request("list_sessions"))["result"]
    assert result == {
        "content": [{"type": "text", "text": "text"}],
        "structuredContent": {"total": 0, "content": "own"},
        "isError": False,
        "total": 0,
    }


@pytest.mark.requirement("EXEC-1")
def test_a_tool_that_fails_and_a_tool_one_may_not_call_are_results_not_protocol_errors() -> None:
    failed = answered(request("list_sessions"), result=ToolResult(None, "No disk.", is_error=True))
    assert failed["result"] == {"content": [{"type": "text", "text": "No disk."}], "isError": True}
    writer = next(tool for tool in all_tools() if tool.scope not in ROLES["reader"])
    arguments = sample(schema.input_schema(writer.input))
    denied = answered(request(writer.name, arguments), Principal("r", LOCAL.namespace, ROLES["reader"]))
    assert denied["result"]["isError"] is True


# --- the channels


class Lines:
    """A stdio server; ``ask`` sends one request and gives its answer."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._number = 0

    def send(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write((message if isinstance(message, str) else json.dumps(message)) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer = json.loads(self.process.stdout.readline())
        assert isinstance(answer, dict)
        return answer

    def ask(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while True:
            answer = self.hear()
            if answer.get("id") == self._number:
                return answer


@contextmanager
def piped(home: Path) -> Iterator[Lines]:
    with subprocess.Popen(
        [sys.executable, "-m", "ovillo", "mcp", "--toolsets", "all"],
        env=environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield Lines(process)
        assert process.stdin is not None
        process.stdin.close()
        assert process.wait(20) == 0


@pytest.mark.requirement("EXEC-2")
def test_stdio_answers_execute_before_after_and_without_the_handshake(tmp_path: Path) -> None:
    with piped(tmp_path) as lines:
        lines.send(request("list_sessions", request_id="first"))
        assert lines.hear()["result"]["total"] == 0
        lines.send("")
        lines.send("{")
        assert lines.hear()["error"]["code"] == execute.PARSE_ERROR
        lines.send("[]")
        assert lines.hear()["error"]["code"] == execute.INVALID_REQUEST
        assert lines.ask("initialize", OPENING)["result"]["serverInfo"]["name"] == "ovillo"
        lines.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        called = lines.ask("tools/call", {"name": "list_sessions", "arguments": {}})["result"]
        executed = lines.ask("execute", {"tool": "list_sessions", "parameters": {}})["result"]
        assert executed["structuredContent"] == called["structuredContent"]
        assert len(lines.ask("tools/list", {})["result"]["tools"]) == len(REGISTRY.visible(LOCAL))
        assert lines.ask("execute", {"tool": "nonsense"})["error"]["code"] == execute.INVALID_PARAMS


@pytest.mark.requirement("EXEC-2")
def test_stdio_mixes_execute_with_the_era_without_handshake(tmp_path: Path) -> None:
    with piped(tmp_path) as lines:
        executed = lines.ask("execute", {"tool": "list_sessions", "parameters": {}})["result"]
        asked = {"name": "list_sessions", "arguments": {}, "_meta": MODERN}
        called = lines.ask("tools/call", asked)["result"]
        assert called["structuredContent"] == executed["structuredContent"]
        assert lines.ask("execute", {"tool": "list_sessions", "parameters": {}})["result"]["isError"] is False


@pytest.mark.requirement("EXEC-5")
def test_a_script_that_writes_its_lines_and_closes_its_end_gets_every_answer(tmp_path: Path) -> None:
    lines = "".join(json.dumps(request("list_sessions", request_id=f"n{n}")) + "\n" for n in range(40))
    done = subprocess.run(
        [sys.executable, "-m", "ovillo", "mcp"],
        env=environment(tmp_path),
        input=lines,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert sorted(answer["id"] for answer in answers) == sorted(f"n{n}" for n in range(40))
    assert all(answer["result"]["isError"] is False for answer in answers)


@pytest.mark.requirement("EXEC-6")
def test_piped_calls_see_what_those_before_them_wrote_and_reach_tools_of_every_toolset(tmp_path: Path) -> None:
    calls = []
    for n in range(12):
        calls.append(request("context_store", {"key": "k", "value": {"n": n}}, f"w{n}"))
        calls.append(request("context_retrieve", {"key": "k"}, f"r{n}"))
    done = subprocess.run(
        [sys.executable, "-m", "ovillo", "mcp"],
        env=environment(tmp_path),
        input="".join(json.dumps(call) + "\n" for call in calls),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    answers = {answer["id"]: answer["result"] for answer in map(json.loads, done.stdout.splitlines())}
    assert [answers[f"r{n}"]["value"] for n in range(12)] == [{"n": n} for n in range(12)]


@pytest.mark.requirement("EXEC-1")
def test_the_route_says_what_is_no_request_by_its_status_too(served: Served) -> None:
    def post(body: Any) -> tuple[int, Any]:
        return served.ask("POST", "/mcp/v1/execute", body)

    assert post(b"{")[1]["error"]["code"] == execute.PARSE_ERROR
    assert post(b"{")[0] == 400
    assert post({"jsonrpc": "2.0", "id": 1, "method": "ping"})[0] == 400
    status, said = post(request("list_sesions"))
    assert (status, said["id"], said["error"]["data"]["near"][0]) == (200, "id-1", "list_sessions")
    silent = request("list_sessions")
    del silent["id"]
    assert post(silent) == (204, "")
    assert served.ask("GET", "/mcp/v1/execute")[0] == 405


@pytest.mark.requirement("EXEC-3")
def test_every_tool_gives_the_same_result_on_every_channel_both_ways(served: Served, home: Path) -> None:
    with ExitStack() as stack:
        socket = stack.enter_context(served.socket("/mcp/ws", subprotocols=["mcp"]))
        assert socket.subprotocol == "mcp"
        lines = stack.enter_context(piped(home))
        ask_socket = _asking(socket)
        for ask in (lines.ask, ask_socket):
            ask("initialize", OPENING)
        lines.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        socket.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}))
        channels: dict[str, Callable[[str, Mapping[str, Any]], dict[str, Any]]] = {
            "stdio": lines.ask,
            "socket": ask_socket,
            "mcp": lambda method, params: _over_mcp(served, method, params),
            "post": lambda method, params: served.ask(
                "POST", "/mcp/v1/execute", {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            )[1],
        }
        for tool in REGISTRY.visible(LOCAL):
            arguments = sample(schema.input_schema(tool.input))
            outcomes = {}
            for name, ask in channels.items():
                executed = ask("execute", {"tool": tool.name, "parameters": arguments})
                outcomes[f"{name} execute"] = _outcome(executed, tool.name)
                if name != "post":
                    called = ask("tools/call", {"name": tool.name, "arguments": arguments})
                    outcomes[f"{name} tools/call"] = _outcome(called, tool.name)
            first = next(iter(outcomes.values()))
            assert all(outcome == first for outcome in outcomes.values()), (tool.name, outcomes)


def _asking(socket: ClientConnection) -> Callable[[str, Mapping[str, Any]], dict[str, Any]]:
    def ask(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        socket.send(json.dumps({"jsonrpc": "2.0", "id": "s", "method": method, "params": params}))
        while True:
            answer = json.loads(socket.recv(30))
            if answer.get("id") == "s":
                return answer  # type: ignore[no-any-return]

    return ask


def _over_mcp(served: Served, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """One request of the era without handshake at /mcp."""
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": method,
        **({"Mcp-Name": params["name"]} if "name" in params else {}),
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": MODERN}}
    _, said = served.ask("POST", "/mcp", body, headers)
    if isinstance(said, str):
        said = json.loads(re.findall(r"^data: (\{.*\})\r?$", said, re.MULTILINE)[-1])
    assert isinstance(said, dict)
    return said


def _outcome(answer: Mapping[str, Any], tool: str) -> Any:
    """What must be the same: the structured result, or the words of the failure. ``execute`` says bad arguments as an
    error of the protocol, tools/call as a result, in the same words."""
    if "error" in answer:
        return (True, _steady(answer["error"]["message"]))
    result = answer["result"]
    if result.get("isError"):
        return (True, _steady(result["content"][0]["text"]))
    fields = result["structuredContent"]
    written = tool in _LIVELY or not next(each.read_only for each in all_tools() if each.name == tool)
    return (False, _shape(fields) if written else _steady(fields))


def _steady(value: Any) -> Any:
    """Without what differs between two calls: times and ids that were just made."""
    text = json.dumps(value, sort_keys=True)
    text = re.sub(r"[a-z]{2,6}_[0-9a-f]{32}", "ID", text)
    return re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\b1[6-9]\d{11}\b", "TIME", text)


def _shape(value: Any) -> Any:
    """Names and kinds only: what a tool that writes gives differs with what was written before. The working directory
    of a client is known on stdio only, where the client started the process."""
    if isinstance(value, Mapping):
        return {name: _shape(each) for name, each in sorted(value.items()) if name != "directory"}
    return type(value).__name__ if isinstance(value, bool | str) else "number" if value is not None else "null"


def sample(shape: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments a schema asks for, and the session wherever one may be named: which session is calling depends on who
    calls."""
    properties = shape["properties"]
    calling = [name for name, each in properties.items() if name in _KNOWN or each.get("default") == "current"]
    return {name: _sample(name, properties[name]) for name in sorted({*shape.get("required", []), *calling})}


def _sample(name: str, shape: Mapping[str, Any]) -> Any:
    if "enum" in shape:
        return shape["enum"][0]
    match shape.get("type"):
        case "integer" | "number":
            return shape.get("minimum", 1)
        case "boolean":
            return False
        case "array":
            return []
        case "object":
            return {"a": 1}
        case "string":
            return "known" if shape.get("default") == "current" else _KNOWN.get(name, "dates")
        case _:
            return {"a": 1}
