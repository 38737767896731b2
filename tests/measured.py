"""Programs that tests start, counted in the coverage of the suite.

Only where what runs cannot be reached inside the process of the tests: a full screen needs a terminal of its own. The suite's
own measuring takes in what they leave beside it (``.coverage.*``).
"""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).parent.parent


def ovillo_program() -> list[str]:
    """How to start ``ovillo``; measured where the suite is."""
    measuring = sys.modules.get("coverage")
    if measuring is None or measuring.Coverage.current() is None:
        return [sys.executable, "-m", "ovillo"]
    options = ["--parallel-mode", f"--data-file={_ROOT / '.coverage'}", f"--rcfile={_ROOT / 'pyproject.toml'}"]
    return [sys.executable, "-m", "coverage", "run", *options, "--source=ovillo", "-m", "ovillo"]
