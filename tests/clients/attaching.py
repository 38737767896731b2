"""What tests of attached clients share: bringing a compaction about, and what of the clients' files is whose."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

from tests.clients.real import MANY, Machine
from tests.clients.scripted_model import ScriptedModel

BRIEF = "this session was compacted"
#: Whose settings a user wrote, and what in them nobody but the client itself may change.
SETTINGS = {
    "claude_code": (".claude/settings.json",),
    "codex": (".codex/config.toml",),
    "opencode": (".config/opencode/opencode.json",),
    "gemini_cli": (".gemini/settings.json",),
    "copilot_cli": (".copilot/mcp-config.json",),
}


def ours(home: Path) -> list[str]:
    """Files below the clients' folders that are ours, and those that name us; what clients themselves log of a session is not."""
    left = []
    for top in (".claude", ".codex", ".config", ".gemini", ".copilot"):
        left += [str(path.relative_to(home)) for path in (home / top).rglob("*ovillo*") if path.is_file()]
        left += [str(path.relative_to(home)) for path in (home / top).rglob("*ovillo*/**/*") if path.is_file()]
    return left


def digests(home: Path, names: tuple[str, ...]) -> Mapping[str, str]:
    return {name: hashlib.sha256((home / name).read_bytes()).hexdigest() for name in names}


def compact(machine: Machine, model: ScriptedModel, session: str) -> None:
    """In the client's own way; the request after it is the one that follows a compaction."""
    client = machine.client
    if client.compact:
        model.answer = client.summary
        machine.say(client.compact, session)
    else:
        model.large = MANY
        machine.say(f"and the large one {'word ' * client.words}", session)
        model.answer = client.summary
        if client.words:
            # It compacts with the next prompt, and is told with the one behind that.
            machine.say("and the small one", session)
    model.answer = "done"
