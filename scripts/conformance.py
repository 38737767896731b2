"""Runs the official MCP conformance suite against this checkout: the whole suite against ``tests.conformance``, and what
needs no fixture against the server that people run.

Owns starting and ending the two servers. ``MCP_CONFORMANCE`` names the program that runs the suite; it is called with the
URL and ``--profile full`` or ``--profile protocol`` and exits with 0 when every scored scenario passed. Nothing of this
machine's histories is read, and nothing outside a temporary folder is written.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_RUNS: tuple[tuple[str, str, list[str]], ...] = (
    ("full", "tests.conformance", []),
    ("protocol", "ovillo", ["serve", "--host", "127.0.0.1", "--auth", "none"]),
)
_ROOT = Path(__file__).resolve().parent.parent
_PATIENCE_S = 30


def main() -> int:
    runner = shlex.split(os.environ.get("MCP_CONFORMANCE", ""))
    if not runner:
        print("Set MCP_CONFORMANCE to the program that runs the suite (CONTRIBUTING.md, MCP conformance).")
        return 2
    worst = 0
    for profile, module, options in _RUNS:
        with _served(module, options) as url:
            print(f"--- {profile} profile: python -m {' '.join([module, *options])}", flush=True)
            done = subprocess.run([*runner, url, "--profile", profile], check=False)
            worst = max(worst, abs(done.returncode))
    return worst


@contextmanager
def _served(module: str, options: list[str]) -> Iterator[str]:
    """The URL of a server on a free port of loopback, over an empty folder, until the block ends."""
    with tempfile.TemporaryDirectory(prefix="ovillo-conformance-") as folder:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OVILLO_")}
        own = {"HOME": folder, "OVILLO_DATA_DIR": f"{folder}/data", "OVILLO_WATCH": "false", "OVILLO_EMBEDDER": "none"}
        command = [sys.executable, "-m", module, *options, "--port", "0"]
        with subprocess.Popen(command, cwd=_ROOT, env=kept | own, stderr=subprocess.PIPE, text=True) as server:
            try:
                assert server.stderr is not None
                line = server.stderr.readline()
                found = re.search(r"http://[^\s/]+/mcp", line)
                if found is None:
                    raise SystemExit(f"The server did not start: {line}{server.stderr.read()}")
                yield found[0]
            finally:
                server.terminate()
                server.communicate(timeout=_PATIENCE_S)


if __name__ == "__main__":
    sys.exit(main())
