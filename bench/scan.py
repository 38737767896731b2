"""Cold scan and growth, beside the plain FTS5 floor in the same run.

    python -m bench.scan --corpus DIR [--rounds 2] [--work DIR]

Bars (DESIGN section 17): cold scan no slower than the floor; at most 250 MB resident; index at most 1.1 times the
floor's; 50 grown lines searchable within 0.3 s by command. The two take turns, the best round of each counts:
on a shared machine the best is nearest to the truth.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.contestants import FLOOR, OVILLO, Contestant, make_home, run_all, wait_until_ready
from bench.corpus import generate, grow
from bench.needle_set import Needle, printed_ids
from bench.processes import folder_bytes
from bench.tables import keep, table, verdict


def measure(contestant: Contestant, corpus: Path, work: Path, number: int) -> dict[str, Any]:
    """One cold scan of an empty home, then growth by 50 lines, twice (the first pays for cold files)."""
    home = make_home(work, contestant.name.replace(" ", "-"), corpus)
    before = folder_bytes(home)
    scan = run_all(contestant.index(home), home, contestant)
    waited = wait_until_ready(contestant, home)
    result: dict[str, Any] = {
        "wall_s": scan.wall_s + (waited if contestant.ready else 0),
        "cpu_s": scan.cpu_s,
        "peak_mb": scan.peak_mb,
        "index_mb": (folder_bytes(home) - before) / 1e6,
        "error": scan.err[-400:] if scan.code else "",
    }
    if contestant.catch_up and not scan.code:
        result |= _grow(contestant, home, number)
    return result


def _grow(contestant: Contestant, home: Path, number: int) -> dict[str, Any]:
    assert contestant.catch_up is not None
    times, found = [], True
    for turn in range(3):
        mark = f"zq{number}{turn}basaltfinch"
        session = grow(home, mark)
        times.append(run_all(contestant.catch_up(home), home, contestant).wall_s)
        needle = Needle("grown", "exact", mark, mark, session, "user")
        answer = run_all([contestant.query(home, needle)], home, contestant)
        found = found and session in printed_ids(answer.out)
    return {"growth_s": min(times), "growth_found": found}


def compare(corpus: Path, work: Path, rounds: int) -> dict[str, Any]:
    results: dict[str, list[dict[str, Any]]] = {OVILLO.name: [], FLOOR.name: []}
    for number in range(rounds):
        for contestant in (OVILLO, FLOOR):
            results[contestant.name].append(measure(contestant, corpus, work, number))
    best = {name: min(runs, key=lambda run: (bool(run["error"]), run["wall_s"])) for name, runs in results.items()}
    for name, runs in results.items():
        best[name]["growth_s"] = min((run["growth_s"] for run in runs if "growth_s" in run), default=None)
    return {"best": best, "rounds": results}


def report(result: dict[str, Any]) -> str:
    ours, floor = result["best"][OVILLO.name], result["best"][FLOOR.name]
    rows = [
        [
            name,
            run["wall_s"],
            run["cpu_s"],
            run["peak_mb"],
            run["index_mb"],
            run.get("growth_s"),
            run.get("growth_found", "-"),
        ]
        for name, run in result["best"].items()
    ]
    columns = ("who", "cold scan s", "cpu s", "peak MB", "index MB", "growth s", "found")
    if result.get("small"):
        return table("Cold scan of a small corpus (start-up weighs most; no bars)", columns, rows)
    ratio, size = ours["wall_s"] / floor["wall_s"], ours["index_mb"] / floor["index_mb"]
    bars = [
        ["cold scan / floor", ratio, 1.0, verdict(ratio, 1.0)],
        ["peak MB", ours["peak_mb"], 250, verdict(ours["peak_mb"], 250)],
        ["index / floor", size, 1.1, verdict(size, 1.1)],
        ["growth by command, s", ours.get("growth_s"), 0.3, verdict(ours.get("growth_s"), 0.3)],
    ]
    return "\n\n".join([table("Cold scan", columns, rows), table("Bars", ("what", "measured", "bar", ""), bars)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a folder with .claude/; made when not given")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        work = Path(folder)
        corpus = arguments.corpus or work / "corpus"
        if arguments.corpus is None:
            generate(corpus, sessions=120, megabytes=12, seed=7)
        result = compare(corpus, work, arguments.rounds)
    result["small"] = arguments.corpus is None
    keep("scan", result, arguments.results)
    if errors := [f"{name} failed: {run['error']}" for name, run in result["best"].items() if run["error"]]:
        sys.exit("\n".join(errors))
    print(report(result))


if __name__ == "__main__":
    main()
