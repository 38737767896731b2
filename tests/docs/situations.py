"""Situations that a page takes for given (``<!-- given: ... -->``) and that no command makes."""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.adapters.environment import INSTALLED, PYTHON
from tests.adapters.scripted import responses
from tests.docs.terminals import Desk


def _home(desk: Desk) -> Path:
    return Path(desk.environment()[0]["HOME"])


def without_agents(desk: Desk) -> None:
    for name in (".claude", ".codex", ".local"):
        shutil.rmtree(_home(desk) / name)


def damaged_database(desk: Desk) -> None:
    """A page in the middle is overwritten, as a broken disk would leave it."""
    path = _home(desk) / ".local" / "share" / "ovillo" / "ovillo.db"
    with path.open("r+b") as file:
        file.seek(4096 * (path.stat().st_size // 4096 // 2))
        file.write(os.urandom(4096))


def earlier_system(desk: Desk) -> None:
    shutil.copytree(Path(__file__).parents[1] / "fixtures" / "mcp-hub-v6", _home(desk) / "mcp-hub")


def sdks(desk: Desk) -> None:
    """``python`` is one that has them, and what asks a model asks one on loopback. Without them the page is left out."""
    if not INSTALLED.exists():
        pytest.skip("the SDKs are not installed: `make adapters`")
    programs = Path(desk.environment()[0]["PATH"])
    (programs / "python").write_text(f'#!/bin/sh\nexec {shlex.quote(str(PYTHON))} "$@"\n', encoding="utf-8")
    address, _ = desk.until_closed.enter_context(responses())
    told = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none", "OPENAI_AGENTS_DISABLE_TRACING": "1"}
    desk.type("export " + " ".join(f"{name}={value}" for name, value in told.items()), bool)


SITUATIONS: dict[str, Callable[[Desk], None]] = {
    "a machine without agents": without_agents,
    "a damaged database": damaged_database,
    "the SDKs and a model": sdks,
    "an earlier system's folder": earlier_system,
}
