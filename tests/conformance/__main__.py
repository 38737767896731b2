"""Serves the fixture until a signal. The suite sends no credentials, so whoever reaches it is answered: on loopback only,
over an empty folder of its own.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

from ovillo.app import open_services
from ovillo.interfaces.http.server import serve
from ovillo.settings import Settings
from tests.conformance.mount import open_mount


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="default: a free one")
    port = parser.parse_args().port
    with tempfile.TemporaryDirectory(prefix="ovillo-conformance-") as folder:
        home = Path(folder)
        settings = Settings(home / "data", home, host="127.0.0.1", port=port, auth="none", embedder="none", watch=False)
        serve(open_services, settings, (open_mount,), _ready)


def _ready(url: str) -> None:
    print(f"MCP conformance fixture, without any session:  {url}/mcp   (Ctrl-C ends it)", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
