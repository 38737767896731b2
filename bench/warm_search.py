"""Warm ``search_sessions`` over MCP stdio, every needle of a corpus, all classes.

    python -m bench.warm_search --corpus DIR [--rounds 3] [--embed]

Bars (DESIGN section 17): p50 <= 20 ms, p95 <= 100 ms; at least 47 of 50 core needles in the first ten sessions, of
them 7 of 10 paraphrases, and all CJK. The first round warms the server up and is not counted for time. Paraphrases
need embedded texts: without ``--embed`` the server embeds in the background meanwhile, and the note says how far it was.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from bench.contestants import OVILLO, environment_of, make_home, run_all
from bench.corpus import generate
from bench.needle_set import CLASSES, Needle, accepted_ids, load, rank, recall
from bench.stdio_client import StdioClient
from bench.tables import keep, percentile, table, verdict


def measure(home: Path, needles: list[Needle], rounds: int) -> dict[str, Any]:
    """``home`` has been scanned. Times in milliseconds by class, and what was found."""
    times: dict[str, list[float]] = {}
    ranks: list[tuple[Needle, int]] = []
    cut = 0
    with StdioClient([sys.executable, "-m", "ovillo", "mcp"], environment_of(home)) as client:
        for number in range(rounds + 1):
            for needle in needles:
                query = f"/{needle.query}/" if needle.kind == "regex" else needle.query
                result, seconds = client.call("search_sessions", {"query": query, "limit": 10})
                answer = result.get("structuredContent") or {}
                if number == 0:
                    ids = [session["id"] for session in answer.get("sessions", [])]
                    ranks.append((needle, rank(accepted_ids(home, needle), ids)))
                else:
                    times.setdefault(needle.kind, []).append(seconds * 1000)
                    cut += "cut" in answer
        embedded = answer.get("embedded")
    return {"times_ms": times, "recall": recall(ranks), "cut": cut, "ready_s": client.ready_s, "embedded": embedded}


def report(result: dict[str, Any]) -> str:
    times, found = result["times_ms"], result["recall"]
    everything = [value for values in times.values() for value in values]
    rows = [
        [
            kind,
            "/".join(map(str, found.get(kind, ("-", "-")))),
            percentile(values, 0.5),
            percentile(values, 0.95),
            max(values),
        ]
        for kind in CLASSES
        if (values := times.get(kind))
    ]
    rows.append(
        [
            "all",
            "/".join(map(str, found["core"])) + " core",
            percentile(everything, 0.5),
            percentile(everything, 0.95),
            max(everything),
        ]
    )
    p50, p95 = percentile(everything, 0.5), percentile(everything, 0.95)
    bars = [["p50 ms", p50, 20, verdict(p50, 20)], ["p95 ms", p95, 100, verdict(p95, 100)]]
    for name, share in (("core", 0.94), ("paraphrase", 0.7), ("cjk", 1.0)):
        if name in found:
            got, asked = found[name]
            bars.append([f"{name} found", got / asked, share, verdict(got / asked, share, at_least=True)])
    note = (
        f"tools/list answered after {result['ready_s']:.2f} s; embedded share {result['embedded']}; "
        f"answers cut by budget: {result['cut']}"
    )
    if result.get("small"):
        bars = bars[:2]
    columns = ("class", "top 10", "p50 ms", "p95 ms", "max ms")
    return "\n\n".join(
        [table("Warm search over MCP stdio", columns, rows), table("Bars", ("what", "measured", "bar", ""), bars), note]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a folder with .claude/ and needles.json; made when not given")
    parser.add_argument("--home", type=Path, help="a home that was scanned already (beside the corpus' needles)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--embed", action="store_true", help="run `ovillo embed` to its end first (minutes on a large corpus)"
    )
    parser.add_argument("--work", type=Path)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        corpus = arguments.corpus or Path(folder) / "corpus"
        if arguments.corpus is None:
            generate(corpus, sessions=120, megabytes=12, seed=7)
        home = arguments.home
        if home is None:
            home = make_home(Path(folder), "warm", corpus)
            scanned = run_all(OVILLO.index(home), home, OVILLO)
            if scanned.code:
                sys.exit(scanned.err)
        if arguments.embed:
            embedded = run_all([[sys.executable, "-m", "ovillo", "embed"]], home, OVILLO, timeout=7200)
            print(
                f"embedded in {embedded.wall_s:.0f} s, {embedded.cpu_s:.0f} cpu s, peak {embedded.peak_mb or 0:.0f} MB"
            )
        result = measure(home, load(corpus), arguments.rounds)
    result["small"] = arguments.corpus is None
    keep("warm_search", result, arguments.results)
    print(report(result))


if __name__ == "__main__":
    main()
