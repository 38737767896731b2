"""The examples of the adapters, with the real SDKs, as somebody without a server runs them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.adapters.environment import ROOT, needs_sdks, run
from tests.adapters.scripted import ANSWER, responses
from tests.clients.agents import CLAUDE
from tests.clients.scripted_model import scripted_model

EXAMPLES = ROOT / "examples"


def shown(home: Path, session: str, *options: str) -> str:
    done = run(home, "-m", "ovillo", "session", "show", session, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_sdks
@pytest.mark.requirement("ADAPT-8")
def test_an_agent_of_the_openai_agents_sdk_remembers_and_people_read_it(tmp_path: Path) -> None:
    with responses() as (address, asked):
        given = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
        for _ in range(2):
            done = run(tmp_path, EXAMPLES / "openai_agents_session.py", given=given)
            assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith("8 items kept.")
    # Each run of the agent is told all that was said before, also by the process before.
    assert [len(each["input"]) for each in asked] == [1, 3, 5, 7]
    assert shown(tmp_path, "openai-agents:support-42").count(ANSWER) == 4


@needs_sdks
@pytest.mark.requirement("ADAPT-8")
def test_a_graph_goes_on_in_another_process_and_people_read_it(tmp_path: Path) -> None:
    first, second = (run(tmp_path, EXAMPLES / "langgraph_saver.py") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), second.stderr
    assert "question 2 of this thread" in first.stdout
    assert "question 4 of this thread" in second.stdout
    assert "question 4 of this thread" in shown(tmp_path, "langgraph:support-42")


@needs_sdks
@pytest.mark.timeout(300)
@pytest.mark.skipif(not (CLAUDE.exists() or shutil.which("claude")), reason="no Claude Code is installed: make clients")
@pytest.mark.requirement("ADAPT-8")
def test_claude_code_goes_on_from_what_is_kept_and_people_read_it(tmp_path: Path) -> None:
    path = f"{CLAUDE.parent}{os.pathsep}{os.environ['PATH']}"
    with scripted_model() as model:
        given = {
            "PATH": path,
            "ANTHROPIC_API_KEY": "sk-ant-dummy",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",
        }
        done = run(tmp_path, EXAMPLES / "claude_agent_sdk_store.py", cwd=tmp_path, given=given, timeout=280)
    assert done.returncode == 0, done.stderr
    session = done.stdout.splitlines()[-1].rpartition(" ")[2]
    assert "Which cards does the bank refuse?" in model.shown
    assert "Since when?" in model.shown
    messages = json.loads(shown(tmp_path, session, "--json"))["messages"]
    asked = [each["parts"][0]["text"] for each in messages if each["role"] == "user"]
    assert asked == ["Which cards does the bank refuse?", "Since when?"]
