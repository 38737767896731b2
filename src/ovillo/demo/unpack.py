"""Puts the demo into a folder that looks like somebody's home, and tells which variables point readers at it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ovillo.demo import claude_code, codex, opencode
from ovillo.demo.stories import CLAUDE_CODE, CODEX, OPENCODE

#: Variables by which clients move their stores: with the demo they must not lead back to the real ones.
DEMO_VARIABLES = (
    "XDG_DATA_HOME",
    "XDG_CONFIG_HOME",
    "APPDATA",
    "LOCALAPPDATA",
    "PWD",
    "OPENCODE_DB",
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "GEMINI_CLI_HOME",
    "COPILOT_HOME",
    "PI_CODING_AGENT_DIR",
    "GOOSE_PATH_ROOT",
    "CRUSH_GLOBAL_DATA",
    "AIDER_CHAT_HISTORY_FILE",
    "OVILLO_AIDER_DIRS",
    "OVILLO_CRUSH_DIRS",
)


def unpack(folder: Path, now: int) -> Path:
    """Writes the history below ``folder`` as seen at ``now`` (milliseconds) and returns the home folder to read.

    The same ``now`` gives the same bytes. What is there already is written over.
    """
    home = folder / "home"
    for story in CLAUDE_CODE:
        claude_code.write(story, home, now)
    for story in CODEX:
        codex.write(story, home, now)
    for story in OPENCODE:
        opencode.write(story, home, now)
    return home


def demo_environment(environment: Mapping[str, str], home: Path, data_dir: Path) -> dict[str, str]:
    """``environment`` changed so that ovillo reads only the demo and keeps it apart from real history."""
    kept = {name: value for name, value in environment.items() if name not in DEMO_VARIABLES}
    return {**kept, "HOME": str(home), "USERPROFILE": str(home), "OVILLO_DATA_DIR": str(data_dir)}
