"""The environment that has the SDKs (``make adapters``), and running things in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = Path(sys.prefix).parent / f"{Path(sys.prefix).name}-adapters"
PYTHON = FOLDER / "bin" / "python"
#: Tests of the OpenAI Agents SDK itself.
SDK_TESTS = FOLDER / "openai-agents"

INSTALLED = FOLDER / ".installed"

needs_sdks = pytest.mark.skipif(not INSTALLED.exists(), reason="the SDKs are not installed: `make adapters`")


def run(
    home: Path, *command: str | Path, cwd: Path = ROOT, given: Mapping[str, str] | None = None, timeout: float = 100
) -> subprocess.CompletedProcess[str]:
    """A command with the SDKs' Python, as a user whose home is ``home``."""
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "OVILLO_DATA_DIR": str(home / "data"),
        "OVILLO_EMBEDDER": "none",
        "NO_COLOR": "1",
        **(given or {}),
    }
    return subprocess.run(
        [PYTHON, *command], cwd=cwd, env=environment, capture_output=True, text=True, check=False, timeout=timeout
    )
