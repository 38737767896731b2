"""Runs schemathesis against ``ovillo serve``: thousands of requests made from ``/openapi.json``, valid and invalid ones.

Owns starting and ending a server over an empty folder, and the choice of checks. No answer may be a 5xx, and every answer
must be one that the description names, in the shape it gives. Three checks are left out:

- ``positive_data_acceptance``: JSON Schema cannot say all that a value must be (a name that is not blank, a cursor of ours).
- ``negative_data_rejection``: in an address everything is text, so that ``null`` is a word like any other.
- ``unsupported_method``: it reads ``Allow`` of ``/api/sessions/import`` without ``/api/sessions/{id}``, which is there, too.

Nothing of this machine's histories is read. Arguments are handed on: ``--seed 7``, ``-n 100``.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

_CHECKS = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "missing_required_header",
    "use_after_free",
)
_PATIENCE_S = 30


def main() -> int:
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        print("schemathesis is not installed: make schemathesis installs it, or pip install '.[dev]'.")
        return 2
    with tempfile.TemporaryDirectory(prefix="ovillo-schemathesis-") as folder:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OVILLO_")}
        own = {"HOME": folder, "OVILLO_DATA_DIR": f"{folder}/data", "OVILLO_WATCH": "false", "OVILLO_EMBEDDER": "none"}
        serve = [sys.executable, "-m", "ovillo", "serve", "--host", "127.0.0.1", "--port", "0", "--auth", "none"]
        log = Path(folder, "server.log")
        with (
            log.open("w", encoding="utf-8") as written,
            # It would be asked to read any folder: without access control it takes no new one, and here is nothing.
            subprocess.Popen(
                serve, env=kept | own, stdout=subprocess.PIPE, stderr=written, text=True, cwd=folder
            ) as server,
        ):
            try:
                return _run(program, _url(server, log), folder)
            finally:
                server.terminate()
                server.communicate(timeout=_PATIENCE_S)
                print("\n".join(_failures(log)))


def _run(program: Path, url: str, folder: str) -> int:
    checks = [option for name in _CHECKS for option in ("--checks", name)]
    chosen = [
        "--max-examples",
        "25",
        "--seed",
        "1",
        "--workers",
        "2",
        "--request-timeout",
        "30",
        "--continue-on-failure",
    ]
    command = [str(program), "run", f"{url}/openapi.json", *checks, *chosen, *sys.argv[1:]]
    return subprocess.run(command, cwd=folder, check=False).returncode


def _failures(log: Path) -> list[str]:
    """What the server's log says of requests that failed, each kind once."""
    logged = [json.loads(line) for line in log.read_text("utf-8").splitlines() if line.startswith("{")]
    failed = [entry for entry in logged if entry.get("level") == "error"]
    return sorted({f"{entry.get('route')}: {entry.get('error')}{entry.get('trace', '')[-400:]}" for entry in failed})


def _url(server: subprocess.Popen[str], log: Path) -> str:
    """Where it listens, as it says itself."""
    while server.poll() is None:
        found = re.search(r"(http://127\.0\.0\.1:\d+)/mcp", log.read_text("utf-8"))
        if found is not None:
            return found[1]
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise SystemExit(f"The server did not start: {log.read_text('utf-8')}")


if __name__ == "__main__":
    sys.exit(main())
