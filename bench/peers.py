"""Installable peers beside us and the floor: recall, times, memory, size, in one run on one corpus.

    python -m bench.peers --corpus DIR [--only ovillo,floor] [--work DIR]

agentsview and agrep are installed by pip into environments of their own below ``--work`` (never into ours). Every
query is a new process; nothing is downloaded at query time, so peers' optional embedding models are not used.
What a class without regular expressions is asked is its literal, which flatters it. An answer counts by the
first ten session ids printed (twenty are read, because some tools print a parent's id beside a child's).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import venv
from pathlib import Path
from typing import Any

from bench.contestants import (
    FLOOR,
    OVILLO,
    Contestant,
    agentsview,
    agrep,
    environment_of,
    make_home,
    run_all,
    wait_until_ready,
)
from bench.corpus import generate, grow
from bench.needle_set import CLASSES, Needle, accepted_ids, load, printed_ids, rank, recall
from bench.processes import folder_bytes, run
from bench.tables import keep, percentile, table

PACKAGES = {"agentsview": "agentsview", "agrep": "agrep"}


def install(work: Path, name: str) -> Path | None:
    """A virtual environment with the peer, or ``None`` (with the reason on stderr) when it cannot be installed."""
    folder = work / f"venv-{name}"
    if not (folder / "bin" / name).exists():
        venv.create(folder, with_pip=True)
        done = run(
            [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", PACKAGES[name]], os.environ, timeout=600
        )
        if done.code or not (folder / "bin" / name).exists():
            print(f"{name} could not be installed: {done.err[-300:]}", file=sys.stderr)
            return None
    return folder


def measure(contestant: Contestant, corpus: Path, work: Path, needles: list[Needle], depth: int = 10) -> dict[str, Any]:
    home = make_home(work, contestant.name.replace(" ", "-"), corpus)
    before = folder_bytes(home)
    scan = run_all(contestant.index(home), home, contestant)
    wall = scan.wall_s + wait_until_ready(contestant, home)
    index_mb = (folder_bytes(home) - before) / 1e6
    if contestant.start:
        run_all(contestant.start(home), home, contestant)
    try:
        ranks, times, peaks, failed = [], [], [], ""
        for needle in needles:
            done = run(
                contestant.query(home, needle), environment_of(home, contestant.environment), timeout=60, cwd=home
            )
            times.append(done.wall_s)
            peaks += [done.peak_mb] if done.peak_mb else []
            ranks.append((needle, rank(accepted_ids(home, needle), printed_ids(done.out)[: depth * 2])))
            failed = done.err[-200:] if done.code not in (0, 1, 4) else failed
        grown = _grow(contestant, home)
    finally:
        if contestant.stop:
            run_all(contestant.stop(home), home, contestant)
    return {
        "index_s": wall,
        "index_peak_mb": scan.peak_mb,
        "index_mb": index_mb,
        "query_p50_s": percentile(times, 0.5),
        "query_p95_s": percentile(times, 0.95),
        "query_peak_mb": max(peaks, default=None),
        "recall": recall(ranks, depth),
        "error": (scan.err[-300:] if scan.code else "") or failed,
        **grown,
    }


def _grow(contestant: Contestant, home: Path) -> dict[str, Any]:
    if contestant.catch_up is None:
        return {}
    mark = "zqpeerbasaltfinch"
    session = grow(home, mark)
    caught_up = run_all(contestant.catch_up(home), home, contestant)
    waited = wait_until_ready(contestant, home) if contestant.ready else 0.0
    needle = Needle("grown", "exact", mark, mark, session, "user")
    done = run(contestant.query(home, needle), environment_of(home, contestant.environment), timeout=60, cwd=home)
    return {"growth_s": caught_up.wall_s + waited, "growth_found": rank([session], printed_ids(done.out)) > 0}


def report(results: dict[str, dict[str, Any]]) -> str:
    found = [
        [name, *("/".join(map(str, r["recall"][kind])) if kind in r["recall"] else "-" for kind in (*CLASSES, "core"))]
        for name, r in results.items()
    ]
    figures = [
        [
            name,
            r["index_s"],
            r["index_peak_mb"],
            r["index_mb"],
            r["query_p50_s"],
            r["query_p95_s"],
            r["query_peak_mb"],
            r.get("growth_s"),
            r.get("growth_found", "-"),
        ]
        for name, r in results.items()
    ]
    columns = ("who", "index s", "peak MB", "index MB", "query p50 s", "p95 s", "query MB", "growth s", "found")
    errors = [f"{name}: {r['error']}" for name, r in results.items() if r["error"]]
    return "\n\n".join(
        [
            table("Needles among the first ten sessions", ("who", *CLASSES, "core"), found),
            table("Times (a new process for every query), memory, size", columns, figures),
            *errors,
        ]
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a folder with .claude/ and needles.json; made when not given")
    parser.add_argument("--only", default="ovillo,floor,agentsview,agrep")
    parser.add_argument("--work", type=Path, help="kept between runs when given (environments of the peers)")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    makers = {"ovillo": OVILLO, "floor": FLOOR}
    with tempfile.TemporaryDirectory() as folder:
        work = (arguments.work or Path(folder)).resolve()
        work.mkdir(parents=True, exist_ok=True)
        corpus = arguments.corpus or work / "corpus"
        if arguments.corpus is None:
            generate(corpus, sessions=120, megabytes=12, seed=7)
        results: dict[str, dict[str, Any]] = {}
        for name in arguments.only.split(","):
            contestant = makers.get(name)
            if contestant is None and (place := install(work, name)):
                contestant = agentsview(place) if name == "agentsview" else agrep(place)
            if contestant:
                results[contestant.name] = measure(contestant, corpus, work, load(corpus))
    keep("peers", {"results": results}, arguments.results)
    print(report(results))


if __name__ == "__main__":
    main()
