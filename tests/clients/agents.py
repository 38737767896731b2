"""Real Claude Code and OpenCode, where they are installed (``make clients``), run once each with a scripted model.

Owns their configuration: ovillo as an MCP server and as a hook, a home of their own, nothing but loopback.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.clients.scripted_model import ScriptedModel

_CLIENTS = Path(os.environ.get("OVILLO_CLIENTS", Path(__file__).parents[2] / ".clients")) / "node_modules"
CLAUDE = _CLIENTS / "@anthropic-ai" / "claude-code-linux-x64" / "claude"
_OPENCODE = _CLIENTS / "opencode-linux-x64" / "bin" / "opencode"
_LONGEST_S = 150

needs_clients = pytest.mark.skipif(
    not (CLAUDE.exists() and _OPENCODE.exists()), reason="no clients are installed: make clients"
)

#: What ovillo is started with by either client.
_OVILLO = [sys.executable, "-m", "ovillo"]
_PLUGIN = """
import { spawnSync } from "node:child_process"
import { appendFileSync } from "node:fs"
const recall = (event, call) => {
  const began = Date.now()
  const run = spawnSync(%s, [...%s, event, "--client", "claude_code"], { input: JSON.stringify(call), encoding: "utf8" })
  appendFileSync(%s, JSON.stringify({ status: run.status, ms: Date.now() - began, said: run.stdout }) + "\\n")
  return run.stdout ? JSON.parse(run.stdout).hookSpecificOutput.additionalContext : ""
}
export const Recall = async () => ({
  "experimental.chat.system.transform": async (_, output) => {
    const said = recall("prompt", { prompt: %s, session_id: "asking" })
    if (said) output.system.push(said)
  },
  "tool.execute.before": async (call, output) => {
    recall("pre-tool", { tool_name: call.tool, tool_input: output.args, session_id: call.sessionID })
  },
})
"""


def claude(home: Path, model: ScriptedModel, prompt: str, *, hooks: bool = False, **variables: str) -> str:
    """The session's id."""
    servers = {"ovillo": {"type": "stdio", "command": _OVILLO[0], "args": [*_OVILLO[1:], "mcp"]}}
    home.mkdir(exist_ok=True)
    (home / "mcp.json").write_text(json.dumps({"mcpServers": servers}))
    command = ["--strict-mcp-config", "--mcp-config", str(home / "mcp.json")]
    if hooks:
        # The log tells what the hook said and what it ended with; what the client does with it, the model was shown.
        def entry(event: str) -> list[dict[str, Any]]:
            asked = f"{' '.join(_OVILLO)} hook {event} --client claude_code"
            logged = f"{asked} | tee -a {home}/hooks.log; echo >> {home}/hooks.log; exit 0"
            return [{"hooks": [{"type": "command", "command": logged, "timeout": 30}]}]

        events = {"UserPromptSubmit": entry("prompt"), "PreToolUse": entry("pre-tool")}
        (home / "hooks.json").write_text(json.dumps({"hooks": events}))
        command += ["--settings", str(home / "hooks.json")]
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    told = {
        "ANTHROPIC_API_KEY": "sk-ant-dummy",
        "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{model.port}",
        **dict.fromkeys(("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER", "IS_SANDBOX"), "1"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "MCP_CONNECTION_NONBLOCKING": "0",
    }
    line = [str(CLAUDE), "-p", prompt, "--model", "sonnet", "--permission-mode", "bypassPermissions", *command]
    ran = _run([*line, "--output-format", "json"], work, home, {**told, **variables})
    return str(json.loads(ran.stdout)["session_id"])


def opencode(home: Path, model: ScriptedModel, prompt: str, *, hooks: bool = False, **variables: str) -> str:
    """The session's id."""
    work = home / "work"
    work.mkdir(parents=True, exist_ok=True)
    at = home / ".config" / "opencode"
    at.mkdir(parents=True, exist_ok=True)
    limit = {"context": 200_000, "output": 8_000}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"http://127.0.0.1:{model.port}/v1", "apiKey": "none"},
        "models": {"m": {"name": "m", "tool_call": True, "limit": limit}},
    }
    settings: dict[str, Any] = {
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/m",
        "small_model": "scripted/m",
        "provider": {"scripted": provider},
        "permission": {"*": "allow"},
        "mcp": {"ovillo": {"type": "local", "command": [*_OVILLO, "mcp"], "enabled": True, "timeout": 60_000}},
    }
    (at / "opencode.json").write_text(json.dumps(settings))
    if hooks:
        # With the module there OpenCode fetches nothing of its own for plugins.
        module = at / "node_modules" / "@opencode-ai" / "plugin"
        module.mkdir(parents=True)
        (module / "package.json").write_text(json.dumps({"name": "@opencode-ai/plugin", "version": "1.0.0"}))
        package = {"dependencies": {"@opencode-ai/plugin": "1.0.0"}}
        (at / "package.json").write_text(json.dumps(package))
        packages = {"": package, "node_modules/@opencode-ai/plugin": {"version": "1.0.0"}}
        lock = {"name": "opencode", "lockfileVersion": 3, "requires": True, "packages": packages}
        (at / "package-lock.json").write_text(json.dumps(lock))
        (at / "plugin").mkdir()
        hook = [*_OVILLO[1:], "hook"]
        pieces = map(json.dumps, (_OVILLO[0], hook, str(home / "hooks.log"), prompt))
        (at / "plugin" / "recall.js").write_text(_PLUGIN % tuple(pieces))
    off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "SHARE")
    told = {f"OPENCODE_DISABLE_{each}": "1" for each in off}
    told["npm_config_registry"] = "http://127.0.0.1:9"
    ran = _run([str(_OPENCODE), "run", "--format", "json", prompt], work, home, {**told, **variables})
    events = [json.loads(line) for line in ran.stdout.splitlines() if line.startswith("{")]
    return str(next(each["sessionID"] for each in events if each.get("sessionID")))


def _run(command: list[str], work: Path, home: Path, variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "PWD": str(work), **variables}
    ran = subprocess.run(
        command,
        check=False,
        cwd=work,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_LONGEST_S,
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}"
    return ran
