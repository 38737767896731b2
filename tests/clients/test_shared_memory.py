"""Real Claude Code and real OpenCode with one memory: what one stored the other recalls, and hooks tell it unasked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.clients.agents import claude, needs_clients, opencode
from tests.clients.scripted_model import ToolUse, scripted_model

PORT = "The ledger service listens on port 5433 because 5432 belongs to Postgres."
OFFICE = "Invoices are rounded half up, as the bank does it."

pytestmark = [needs_clients, pytest.mark.requirement("LAYER-31")]


def told(result: str) -> str:
    """The words of an answer, whichever form the client handed on."""
    try:
        whole: Any = json.loads(result)
    except ValueError:
        return result
    return json.dumps(whole, ensure_ascii=False)


def test_what_opencode_stored_claude_code_recalls_with_its_provenance(tmp_path: Path) -> None:
    data = {"OVILLO_DATA_DIR": str(tmp_path / "data")}
    with scripted_model(ToolUse("ovillo_remember", {"text": PORT})) as model:
        stored_in = opencode(tmp_path, model, "Remember the port of the ledger, please.", **data)
    recall = ToolUse("mcp__ovillo__recall", {"query": "On which port does the ledger service listen?"})
    with scripted_model(recall) as model:
        claude(tmp_path, model, "Ask your memory for the port.", **data)
    [answer] = map(told, model.results())
    assert PORT in answer
    assert stored_in in answer
    assert "has " in answer  # why


def test_what_claude_code_stored_opencode_recalls_with_its_provenance(tmp_path: Path) -> None:
    data = {"OVILLO_DATA_DIR": str(tmp_path / "data")}
    with scripted_model(ToolUse("mcp__ovillo__remember", {"text": OFFICE})) as model:
        stored_in = claude(tmp_path, model, "Remember how invoices are rounded, please.", **data)
    with scripted_model(ToolUse("ovillo_recall", {"query": "How are invoices rounded?"})) as model:
        opencode(tmp_path, model, "Ask your memory how we round.", **data)
    [answer] = map(told, model.results())
    assert OFFICE in answer
    assert stored_in in answer


@pytest.mark.parametrize("client", [claude, opencode])
def test_a_prompt_and_a_call_are_told_what_is_remembered_within_the_limits(tmp_path: Path, client: Any) -> None:
    data = {"OVILLO_DATA_DIR": str(tmp_path / "data"), "ENABLE_ORCH_CONTEXT": "true"}
    prefix = "mcp__ovillo__" if client is claude else "ovillo_"
    many = [f"{PORT} Seen in environment {number}, {'and so on ' * 80}." for number in range(6)]
    uses = [ToolUse(f"{prefix}remember", {"text": text, "kind": "episode"}) for text in [PORT, *many]]
    with scripted_model(*uses) as model:
        client(tmp_path, model, "Remember all of this.", **data)
    asked = "On which port does the ledger service listen?"
    with scripted_model(ToolUse(f"{prefix}recall", {"query": asked})) as model:
        client(tmp_path, model, asked, hooks=True, **data)
    assert "listens on port 5433" in model.shown
    assert len(model.results()) == 1
    said = [line for line in (tmp_path / "hooks.log").read_text().splitlines() if line.strip()]
    contexts = [_context(line) for line in said]
    assert sum("listens on port 5433" in each for each in contexts) >= 2  # of the prompt, and of the call
    for context in contexts:
        shown = [line[2:] for line in context.splitlines() if line.startswith("> ")]
        assert len([line for line in context.splitlines() if line.startswith("mem_")]) <= 3
        assert sum(len(line.encode()) for line in shown) <= 1_500


def _context(line: str) -> str:
    """What one call of the hook said."""
    logged = json.loads(line)
    said = logged.get("said", line)
    assert logged.get("status", 0) == 0
    return str(json.loads(said)["hookSpecificOutput"]["additionalContext"]) if said else ""
