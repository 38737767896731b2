"""Start: from spawn to the answer of tools/list on stdio with its memory, and a search on the command line.

``python -m bench.startup [--rounds 7] [--command ovillo mcp]`` prints two tables. ``--search HOME`` searches a history of
your own instead of an empty one (it is scanned first, into a store in a temporary folder), and ``--beside PROGRAM`` (an
``ovillo`` of another build) takes turns with this one.

Beside the server it starts the
bare SDK server (no tools) in the same rounds, because the SDK's import is most of the time and the machine's
speed differs from day to day: judge by the difference and the ratio, not by the milliseconds alone.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from bench.tables import keep, table, verdict

FLOOR = """
import anyio
import mcp_types as types
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

async def tools(ctx, params):
    return types.ListToolsResult(tools=[])

async def main():
    server = Server("floor", on_list_tools=tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())

anyio.run(main)
"""
#: Resident memory is looked at again after this, when background work has begun (seconds).
SETTLE_S = 2.0
LISTED_BAR_MS = 900
SEARCH_BAR_MS = 250


@dataclass(frozen=True, slots=True)
class Start:
    listed_ms: float
    rss_mb: float
    settled_mb: float
    stop_ms: float


def measure(command: list[str], environment: dict[str, str]) -> Start:
    """One start. ``stop_ms`` is from closing standard input to the end of the process."""
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        assert process.stdin
        assert process.stdout
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        for message in (
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        ):
            process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        while json.loads(process.stdout.readline() or b'{"id": 2}').get("id") != 2:
            pass
        listed = (time.perf_counter() - began) * 1000
        rss = _rss_mb(process.pid)
        time.sleep(SETTLE_S)
        settled = _rss_mb(process.pid)
        closing = time.perf_counter()
        process.stdin.close()
        process.wait(30)
        return Start(listed, rss, settled, (time.perf_counter() - closing) * 1000)


def _rss_mb(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):  # not Linux, or already gone
        return float("nan")
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def measure_search(program: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Milliseconds of one ``ovillo search`` from spawn to its end, and of the processor."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    _silent([*program, "search", "retry"], environment)
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall * 1000, used * 1000


def searches(home: Path, beside: str | None, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """Builds take turns, each with a store of its own."""
    programs = {"ovillo search": [sys.executable, "-m", "ovillo"], **({"beside": [beside]} if beside else {})}
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in programs}
    with tempfile.TemporaryDirectory(prefix="ovillo-startup-") as folder:
        places = {
            name: dict(os.environ) | {"HOME": str(home), "OVILLO_DATA_DIR": f"{folder}/{number}"}
            for number, name in enumerate(programs)
        }
        for name, program in programs.items():
            _silent([*program, "scan"], places[name])
        for count in range(rounds + 1):
            for name, program in programs.items():
                measured = measure_search(program, places[name])
                if count:  # the first warms up
                    found[name].append(measured)
    return found


def _silent(command: list[str], environment: dict[str, str]) -> None:
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--home", help="home folder whose agents are read; default an empty one")
    parser.add_argument("--search", metavar="HOME", help="home folder whose history is searched; default an empty one")
    parser.add_argument("--beside", metavar="PROGRAM", help="ovillo of another build, to search in turns with")
    parser.add_argument("--results", type=Path, help="folder to keep the figures in, as JSON")
    parser.add_argument("--command", nargs=argparse.REMAINDER, help="server to start; default this ovillo's mcp")
    options = parser.parse_args()
    home = options.home or tempfile.mkdtemp(prefix="ovillo-startup-")
    environment = dict(os.environ) | {"HOME": home, "OVILLO_DATA_DIR": str(Path(home) / "ovillo-data")}
    commands = {
        "SDK floor": [sys.executable, "-c", FLOOR],
        "ovillo mcp": options.command or [sys.executable, "-m", "ovillo", "mcp"],
    }
    try:
        runs: dict[str, list[Start]] = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                runs[name].append(measure(command, environment))
        searched = searches(Path(options.search or home), options.beside, options.rounds)
    finally:
        if options.home is None:
            shutil.rmtree(home, ignore_errors=True)
    _print(runs, searched)
    if options.results:
        keep(
            "startup",
            {"servers": {name: [asdict(x) for x in starts] for name, starts in runs.items()}, "search_ms": searched},
            options.results,
        )
    return 0


def _print(runs: dict[str, list[Start]], searched: dict[str, list[tuple[float, float]]]) -> None:
    rows = []
    for name, starts in runs.items():
        listed = [start.listed_ms for start in starts]
        figures = [
            statistics.median(getattr(x, field) for x in starts) for field in ("rss_mb", "settled_mb", "stop_ms")
        ]
        bar = verdict(min(listed), LISTED_BAR_MS) if name.startswith("ovillo") else ""
        rows.append((name, round(min(listed)), round(statistics.median(listed)), *map(round, figures), bar))
    columns = ("server", "best ms", "median ms", "RSS MB", "settled MB", "stop ms", f"{LISTED_BAR_MS} ms")
    print(table("stdio: spawn to tools/list", columns, rows))
    floor, ours = (min(start.listed_ms for start in starts) for starts in runs.values())
    print(f"ours beside the floor: {ours - floor:+.0f} ms (x{ours / floor:.2f})\n")
    lines = []
    for name, measured in searched.items():
        walls, used = ([one[place] for one in measured] for place in (0, 1))
        figures = [round(of(each)) for each in (walls, used) for of in (min, statistics.median)]
        lines.append((name, *figures, verdict(figures[0], SEARCH_BAR_MS)))
    heads = ("command", "best ms", "median ms", "best CPU ms", "median CPU ms", f"{SEARCH_BAR_MS} ms")
    print(table("command line: spawn to end", heads, lines))


if __name__ == "__main__":
    sys.exit(main())
