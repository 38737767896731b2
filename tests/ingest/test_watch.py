"""Watching sources, where the system lets nobody watch."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

_WATCHING = """
import logging, sys, threading
from pathlib import Path
from ovillo.ingest.watch import changed_sources
from ovillo.readers.protocol import Source
logging.basicConfig(stream=sys.stdout)
ended = threading.Event()
ended.set()
print(changed_sources([Source("claude_code", Path(sys.argv[1]))], ended))
"""
#: In a name space of users of its own the limits are its own, and nobody else's watches are touched.
_LIMITED = """echo "$1" > "/proc/sys/user/$0" && shift && exec "$@\""""


def limited(name: str, limit: int, *command: str) -> subprocess.CompletedProcess[str]:
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("this system has no unshare")
    words = [unshare, "--user", "--map-root-user", "sh", "-c", _LIMITED, name, str(limit)]
    if subprocess.run([*words, "true"], check=False, capture_output=True).returncode:
        pytest.skip("nobody may make a name space of users here")
    return subprocess.run([*words, *command], check=True, capture_output=True, text=True, timeout=60, env=os.environ)


@pytest.mark.requirement("FAULT-9")
@pytest.mark.parametrize(("name", "limit"), [("max_inotify_watches", 1), ("max_inotify_instances", 0)])
def test_where_the_system_watches_no_more_that_is_said_and_everything_is_looked_at_instead(
    tmp_path: Path, name: str, limit: int
) -> None:
    (tmp_path / "projects" / "p").mkdir(parents=True)
    run = limited(name, limit, sys.executable, "-c", _WATCHING, str(tmp_path))
    assert "Watching is not possible" in run.stdout
    assert run.stdout.endswith("None\n")
