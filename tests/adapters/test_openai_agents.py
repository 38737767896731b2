"""Sessions of the OpenAI Agents SDK as people and other processes meet them."""

from __future__ import annotations

import asyncio
import os
import random
import string
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.errors import NotFound
from tests.adapters.conftest import STAND_INS
from tests.adapters.environment import ROOT
from tests.interfaces.cli_runs import CommandLine

ASKED = {"role": "user", "content": "Which cards does the zorvath bank refuse?"}
REASONED = {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "Look it up."}]}
CALLED = {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"bank": "zorvath"}'}
GAVE = {"type": "function_call_output", "call_id": "c1", "output": "those of 2019"}
ANSWERED = {
    "type": "message",
    "role": "assistant",
    "content": [{"type": "output_text", "text": "Those of 2019.", "annotations": []}],
}
TURN = [ASKED, REASONED, CALLED, GAVE, ANSWERED]


def run(work: Callable[[], Awaitable[Any]]) -> Any:
    async def waited() -> Any:
        return await work()

    return asyncio.run(waited())


@pytest.mark.requirement("ADAPT-2")
def test_items_come_back_as_they_were_given_and_are_found_listed_and_shown(data: Path, ovillo: CommandLine) -> None:
    from ovillo.adapters.openai_agents import OvilloSession

    session = OvilloSession("support 42", data_dir=data, session_settings={"limit": 4})
    assert run(session.get_items) == []
    run(lambda: session.add_items(TURN))
    assert run(lambda: session.get_items(limit=99)) == TURN
    assert run(session.get_items) == TURN[1:]
    assert run(lambda: session.get_items(limit=0)) == []
    again = OvilloSession("support 42", data_dir=data)
    assert run(again.get_items) == TURN
    [found] = ovillo.run("search", "zorvath", "--json").json()["sessions"]
    assert found["id"] == session.ovillo_id
    [listed] = ovillo.run("session", "list", "--json").json()["sessions"]
    assert listed["title"] == ASKED["content"]
    shown = ovillo.run("session", "show", session.ovillo_id, "--json").json()["messages"]
    assert [each["role"] for each in shown] == ["user", "assistant", "assistant", "tool", "assistant"]
    assert shown[2]["parts"][0]["tool"]["input"] == {"bank": "zorvath"}


@pytest.mark.requirement("ADAPT-4")
def test_what_is_popped_and_cleared_is_gone_for_the_sdk_and_marked_for_people(data: Path, ovillo: CommandLine) -> None:
    from ovillo.adapters.openai_agents import OvilloSession

    session = OvilloSession("x", data_dir=data)
    assert run(session.pop_item) is None
    run(session.clear_session)
    run(lambda: session.add_items(TURN))
    assert run(session.pop_item) == ANSWERED
    assert run(session.get_items) == TURN[:-1]
    run(session.clear_session)
    assert run(session.get_items) == []
    run(lambda: session.add_items([{"role": "user", "content": "Start afresh."}]))
    assert run(session.get_items) == [{"role": "user", "content": "Start afresh."}]
    assert ovillo.run("search", "zorvath", "--json").json()["sessions"]
    shown = ovillo.run("session", "show", session.ovillo_id, "--json").json()["messages"]
    assert [bool(each.get("reverted")) for each in shown] == [True] * 5 + [False]
    assert ovillo.run("forget", "session", session.ovillo_id, "--yes").code == 0
    assert ovillo.run("search", "zorvath", "--json").json()["sessions"] == []
    with pytest.raises(NotFound):
        run(lambda: session.add_items(TURN))


@pytest.mark.requirement("ADAPT-6")
def test_a_secret_in_an_item_is_nowhere_in_the_data_folder(data: Path) -> None:
    from ovillo.adapters import opened
    from ovillo.adapters.openai_agents import OvilloSession

    secret = "gh" + "p_" + "".join(random.Random(7).choices(string.ascii_letters + string.digits, k=36))
    session = OvilloSession("x", data_dir=data)
    run(lambda: session.add_items([{"role": "user", "content": f"My token is {secret}"}, CALLED]))
    first, second = run(session.get_items)
    assert first["content"].startswith("My token is [redacted:github_token:")
    assert second == CALLED
    opened.close()
    kept = b"".join(path.read_bytes() for path in data.rglob("*") if path.is_file())
    assert secret.encode() not in kept


ADDING = """
import asyncio, sys
from ovillo.adapters.openai_agents import OvilloSession
async def add():
    session = OvilloSession("shared", data_dir=sys.argv[1])
    for n in range(40):
        await session.add_items([{"role": "user", "content": f"{sys.argv[2]}-{n}"}])
asyncio.run(add())
"""
TAKING = """
import asyncio, sys
from ovillo.adapters.openai_agents import OvilloSession
async def take():
    session = OvilloSession("shared", data_dir=sys.argv[1])
    while (item := await session.pop_item()) is not None:
        print(item["content"])
asyncio.run(take())
"""


@pytest.mark.requirement("ADAPT-3")
def test_processes_at_once_keep_every_item_in_order_and_none_is_popped_twice(data: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": f"{STAND_INS}{os.pathsep}{ROOT / 'src'}"}

    def at_once(code: str) -> list[str]:
        started = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(data), name], env=environment, stdout=subprocess.PIPE, text=True
            )
            for name in "abc"
        ]
        told = [process.communicate(timeout=100)[0] for process in started]
        assert [process.returncode for process in started] == [0, 0, 0]
        return [line for each in told for line in each.splitlines()]

    from ovillo.adapters.openai_agents import OvilloSession

    at_once(ADDING)
    kept = [item["content"] for item in run(OvilloSession("shared", data_dir=data).get_items)]
    for name in "abc":
        assert [each for each in kept if each.startswith(name)] == [f"{name}-{n}" for n in range(40)]
    popped = at_once(TAKING)
    assert sorted(popped) == sorted(kept)
    assert run(OvilloSession("shared", data_dir=data).get_items) == []


@pytest.mark.requirement("ADAPT-5")
@pytest.mark.parametrize(
    ("module", "extra"),
    [("openai_agents", "openai-agents"), ("claude_agent_sdk", "claude-agent-sdk"), ("langgraph", "langgraph")],
)
def test_where_an_sdk_is_missing_one_line_says_what_to_run(module: str, extra: str) -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(('agents', 'claude_agent_sdk', 'langgraph')));"
        f"import ovillo.adapters.{module}"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("ImportError: Keeping ")
    assert last.endswith(f"ovillo[{extra}]'")
    assert "During handling" not in done.stderr
