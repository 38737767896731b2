"""A real Chroma server for tests, where one is installed (``make chroma``)."""

from __future__ import annotations

import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

#: ``chroma run`` is this function of the package's binary module; the rest of the package is a client that is not needed.
_RUN = "import sys, chromadb_rust_bindings; chromadb_rust_bindings.cli(['chroma', *sys.argv[1:]])"
_PYTHON = Path(os.environ.get("OVILLO_CHROMA_PYTHON", Path(__file__).parents[2] / ".venv-chroma" / "bin" / "python"))

needs_chroma = pytest.mark.skipif(not _PYTHON.exists(), reason="no Chroma server is installed: make chroma")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def chroma(folder: Path, port: int) -> Iterator[None]:
    """``chroma run``, ready to answer, until the block ends."""
    process = subprocess.Popen(
        [str(_PYTHON), "-c", _RUN, "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        cwd=folder.parent,
        env={"HOME": str(folder.parent), "ANONYMIZED_TELEMETRY": "False"},
    )
    try:
        _wait(process, f"http://127.0.0.1:{port}/api/v2/heartbeat")
        yield
    finally:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], url: str) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        assert process.poll() is None, "the server ended by itself"
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.05)
    raise AssertionError("the server did not answer within a minute")
