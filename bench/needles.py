"""Planted needles by the search service: what share is found, by class, and how fast.

    python -m bench.needles --input CORPUS [--output predictions.jsonl] [--embedder none] [--data DIR]

CORPUS holds ``.claude/projects`` and ``needles.json`` (see ``bench.needle_set``). The corpus is scanned into a fresh data
folder with the real readers, everything said is embedded, and each needle is asked for twice: the first answers count for
recall, the second for time. ``--data`` keeps the folder, and skips what is done already. Output: one line a needle,
``{"id": ..., "class": ..., "rank": 1-based or 0, "sessions": [first ten ids]}``.

Bars (DESIGN section 17): 47 of 50 core needles in the first ten sessions, of them 7 of 10 paraphrases, 10 of 10 CJK.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.needle_set import CLASSES, Needle, accepted_ids, load, rank, recall
from bench.tables import percentile, table
from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.search.embedders import open_embedder
from ovillo.search.embedding_queue import EmbeddingQueue
from ovillo.search.service import SearchRequest
from ovillo.settings import Settings

_DEPTH = 10


def prepare(corpus: Path, data: Path, embedder: str) -> tuple[Composition, float, float]:
    """Services over the scanned and embedded corpus, and the seconds that took."""
    settings = Settings(data, corpus, embedder=embedder, readers=("claude_code",), watch=False)
    services = open_services(settings)
    scanned = _seconds(services.ingest.scan)
    model = open_embedder(settings)
    embedded = 0.0
    if model is not None:
        embedded = _seconds(lambda: EmbeddingQueue(services.store, model).run_until_done(_say))
        print()
    while services.store.text.catch_up():
        pass
    return services, scanned, embedded


def ask(services: Composition, needle: Needle) -> tuple[list[str], float, float]:
    """Session ids, best first; wall and processor time in milliseconds."""
    query = f"/{needle.query}/" if needle.kind == "regex" else needle.query
    wall, cpu = time.perf_counter(), time.process_time()
    found = services.search.search(DEFAULT_NAMESPACE, SearchRequest(query, limit=_DEPTH))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return [str(item.summary.session.id) for item in found.sessions], wall * 1000, cpu * 1000


def report(ranks: list[tuple[Needle, int]], times: dict[str, list[tuple[float, float]]]) -> str:
    first, ten = recall(ranks, 1), recall(ranks, _DEPTH)
    rows = []
    for name in (*CLASSES, "core"):
        if name not in ten:
            continue
        taken = [both for kind, values in times.items() if name in (kind, "core") for both in values]
        wall, cpu = [both[0] for both in taken], [both[1] for both in taken]
        rows.append(
            [
                name,
                "/".join(map(str, first[name])),
                "/".join(map(str, ten[name])),
                *(percentile(values, share) for values in (wall, cpu) for share in (0.5, 0.95)),
            ]
        )
    columns = ("class", "first", "top 10", "p50 ms", "p95 ms", "cpu p50", "cpu p95")
    return table("Needles by the service (times: all classes in the last row)", columns, rows)


def _say(done: int, eligible: int) -> None:
    print(f"\rembedded {done:,} of {eligible:,}", end="", flush=True)


def _seconds(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path)
    parser.add_argument("--embedder", default="minilm", help="minilm (as installed) or none")
    parser.add_argument("--data", type=Path, help="a data folder to keep and use again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        services, scanned, embedded = prepare(arguments.input, arguments.data or Path(folder), arguments.embedder)
        needles = load(arguments.input)
        answers = [(needle, ask(services, needle)[0]) for needle in needles]
        ranks = [(needle, rank(accepted_ids(arguments.input, needle), ids)) for needle, ids in answers]
        times: dict[str, list[tuple[float, float]]] = {}
        for needle in needles:
            times.setdefault(needle.kind, []).append(ask(services, needle)[1:])
        services.close()
    if arguments.output:
        with arguments.output.open("w", encoding="utf-8") as out:
            for (needle, position), (_, ids) in zip(ranks, answers, strict=True):
                row = {"id": needle.id, "class": needle.kind, "rank": position, "sessions": ids}
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
    print(report(ranks, times))
    print(f"\nscanned in {scanned:.1f} s, embedded in {embedded:.1f} s")


if __name__ == "__main__":
    main()
