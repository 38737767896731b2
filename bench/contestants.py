"""Who is measured, and how each is told to index, to look something up, and to catch up.

Each gets a home folder of its own with the same corpus below ``.claude``; ovillo keeps its data there too. Nothing here
measures.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from bench.needle_set import Needle
from bench.processes import Run, run

Command = list[str]


@dataclass(frozen=True, slots=True)
class Contestant:
    """``index`` and ``catch_up`` run to the end; ``query`` is the command of one look-up in a new process."""

    name: str
    index: Callable[[Path], list[Command]]
    query: Callable[[Path, Needle], Command]
    #: Asked after indexing until it gives True (for those that index in the background).
    ready: Callable[[Path], bool] | None = None
    start: Callable[[Path], list[Command]] | None = None
    stop: Callable[[Path], list[Command]] | None = None
    catch_up: Callable[[Path], list[Command]] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def environment_of(home: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """What every contestant sees: its own home, no other agent's stores, no network where a tool honours that."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL", "TMPDIR") if name in os.environ}
    own = {
        "HOME": str(home),
        "OVILLO_DATA_DIR": str(home / "ovillo-data"),
        "PYTHONPATH": str(Path(__file__).resolve().parent.parent),
        "HF_HUB_OFFLINE": "1",
        "DO_NOT_TRACK": "1",
        "NO_COLOR": "1",
    }
    return {**kept, **own, **(extra or {})}


def make_home(work: Path, name: str, corpus: Path) -> Path:
    """An empty home with a copy of the corpus (a growing benchmark must not touch the original)."""
    home = work / f"home-{name}"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    shutil.copytree(corpus / ".claude", home / ".claude")
    return home


def run_all(commands: list[Command], home: Path, contestant: Contestant, timeout: float = 900) -> Run:
    """Runs the commands one after the other; their sums, and the highest memory."""
    runs = [run(argv, environment_of(home, contestant.environment), timeout=timeout, cwd=home) for argv in commands]
    bad = next((r for r in runs if r.code), runs[-1])
    peaks = [r.peak_mb for r in runs if r.peak_mb is not None]
    return Run(
        bad.code,
        runs[-1].out,
        bad.err,
        sum(r.wall_s for r in runs),
        sum(r.cpu_s for r in runs),
        max(peaks, default=None),
    )


def wait_until_ready(contestant: Contestant, home: Path, limit_s: float = 600) -> float:
    """Seconds waited for background indexing."""
    started = time.perf_counter()
    while contestant.ready and not contestant.ready(home) and time.perf_counter() - started < limit_s:
        time.sleep(0.25)
    return time.perf_counter() - started


_PYTHON = sys.executable


def _ovillo_query(_: Path, needle: Needle) -> Command:
    query = f"/{needle.query}/" if needle.kind == "regex" else needle.query
    return [_PYTHON, "-m", "ovillo", "search", "--json", "--limit", "10", "--", query]


OVILLO = Contestant(
    "ovillo",
    index=lambda _: [[_PYTHON, "-m", "ovillo", "scan"]],
    query=_ovillo_query,
    catch_up=lambda _: [[_PYTHON, "-m", "ovillo", "scan"]],
)
FLOOR = Contestant(
    "plain FTS5 floor",
    index=lambda home: [[_PYTHON, "-m", "bench.floor", "index", str(home)]],
    query=lambda home, needle: [_PYTHON, "-m", "bench.floor", "query", str(home), needle.literal],
    catch_up=lambda home: [[_PYTHON, "-m", "bench.floor", "index", str(home)]],
)


def agrep(venv: Path) -> Contestant:
    """agrep's command line; it goes on indexing after its command has returned."""
    command = str(venv / "bin" / "agrep")

    def ready(home: Path) -> bool:
        asked = run([command, "search", "--json", "-n", "1", "zzqqxnothing"], environment_of(home), timeout=60)
        return '"engine":"jsonl' not in asked.out

    def query(_: Path, needle: Needle) -> Command:
        how = ["-E", needle.query] if needle.kind == "regex" else ["--", needle.query]
        return [command, "search", "--json", "-n", "40", *how]

    return Contestant(
        "agrep", lambda _: [[command, "index"]], query, ready=ready, catch_up=lambda _: [[command, "index"]]
    )


def agentsview(venv: Path) -> Contestant:
    """agentsview with its daemon, default (substring and regular expression) search over everything."""
    command = str(venv / "bin" / "agentsview")
    everything = ["--json", "--limit", "50", "--include-automated", "--include-one-shot", "--include-children"]

    def query(_: Path, needle: Needle) -> Command:
        how = ["--regex"] if needle.kind == "regex" else []
        return [command, "session", "search", *everything, *how, needle.query]

    return Contestant(
        "agentsview",
        index=lambda _: [["env", "AGENTSVIEW_NO_DAEMON=1", command, "sync"]],
        query=query,
        start=lambda _: [[command, "daemon", "start"]],
        stop=lambda _: [[command, "daemon", "stop"]],
        catch_up=lambda _: [[command, "sync"]],
    )
