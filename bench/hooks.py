"""What a hook costs the agent that waits for it: the program that ``ovillo install`` writes, started as a client starts it.

    python -m bench.hooks [--sessions 300] [--times 40] [--results DIR]

A history of the given size is made and read, ovillo is attached to Claude Code, and each event is called ``--times`` times beside a running
server and without one. Wall time is what the agent waits, processor time what the machine pays.

Bars (issue 12): p95 150 ms beside a server, 400 ms without.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from bench.corpus import generate
from bench.servers import OvilloServer
from bench.tables import keep, table, verdict

_DATA = ".local/share/ovillo"
_BARS = {"beside a server": 150.0, "without": 400.0}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sessions", type=int, default=300)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--results", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(Path(folder), given.sessions, given.times)
    print(table("Hooks", ["event", "server", "p50 ms", "p95 ms", "processor ms", "bar", ""], rows))
    if given.results:
        keep("hooks", {"rows": rows}, given.results)


def measure(folder: Path, sessions: int, times: int) -> list[list[object]]:
    home = folder / "home"
    generate(home, sessions=sessions, megabytes=sessions * 0.1, seed=7)
    environment = {"HOME": str(home), "PATH": os.defpath, "OVILLO_EMBEDDER": "none"}
    ovillo = [sys.executable, "-m", "ovillo"]
    for command in (["scan"], ["install", "claude", "--yes"]):
        subprocess.run([*ovillo, *command], env=environment, check=True, stdout=subprocess.DEVNULL)
    listed = subprocess.run([*ovillo, "session", "list", "--json"], env=environment, check=True, capture_output=True)
    session = json.loads(listed.stdout)["sessions"][0]["id"]
    rows: list[list[object]] = []
    for where in ("without", "beside a server"):
        with OvilloServer(home, OVILLO_DATA_DIR=str(home / _DATA)) if where != "without" else nullcontext():
            for event in ("prompt", "session-start", "stop"):
                rows.append([event, where, *_row(home, environment, event, session, times, _BARS[where])])
    return rows


def _row(home: Path, environment: dict[str, str], event: str, session: str, times: int, bar: float) -> list[object]:
    data = home / _DATA
    payload = json.dumps({"session_id": session, "source": "compact", "prompt": "what did we decide?"}).encode()
    walls, before = [], resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(times):
        # Each is a compaction of its own.
        for mark in (data / "hooks").glob("told-*"):
            mark.unlink()
        began = time.perf_counter()
        line = [str(data / "bin/ovillo-hook"), event, "--client", "claude_code"]
        subprocess.run(line, env=environment, input=payload, check=True, stdout=subprocess.DEVNULL)
        walls.append((time.perf_counter() - began) * 1000)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000 / times
    p95 = statistics.quantiles(walls, n=20)[-1]
    return [round(statistics.median(walls)), round(p95), round(spent), round(bar), verdict(p95, bar)]


if __name__ == "__main__":
    main()
