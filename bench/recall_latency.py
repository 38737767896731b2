"""How long recall takes among many memories: ``recall``, and automatic recall at rest, under load, and beside a back end that hangs.

    python -m bench.recall_latency --results DIR [--memories 100000]

Memories are sentences put together by chance, with vectors drawn at random (embedding 100,000 texts takes half an hour and changes no
time of a question), and the 40 of bench/recall_pairs.json with their own. Everything is asked through the tools. The bars of automatic
recall are DESIGN section 17's: never over 400 ms, 3 items, 1,500 bytes.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import socket
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from bench.recall import PAIRS
from bench.remembered import RememberedStore
from bench.tables import keep, percentile, table, verdict
from ovillo.model.memories import Layer, Memory, MemoryFilter, MemoryId, Provenance, digest_of
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.store.forms import unit

_BATCH, _DIMENSION = 5_000, 384
_ASKED, _ASKED_HUNG = 60, 30
_DAY_MS = 86_400_000
_BAR_MS = 400
_WORDS = [
    "ledger",
    "invoice",
    "gateway",
    "limiter",
    "cache",
    "queue",
    "worker",
    "parser",
    "token",
    "cluster",
    "node",
    "router",
    "index",
    "schema",
    "column",
    "report",
    "export",
    "import",
    "backup",
    "restore",
    "deploy",
    "release",
    "branch",
    "commit",
    "review",
    "test",
    "fixture",
    "mock",
    "build",
    "pipeline",
    "docker",
    "volume",
    "secret",
    "password",
    "certificate",
    "port",
    "socket",
    "timeout",
    "retry",
    "batch",
    "stream",
    "event",
    "handler",
    "listener",
    "button",
    "menu",
    "colour",
    "font",
    "image",
    "thumbnail",
    "camera",
    "sensor",
    "temperature",
    "battery",
    "driver",
    "kernel",
    "memory",
    "disk",
    "network",
    "proxy",
    "mirror",
    "archive",
    "archive",
]


def memories(count: int, seed: int = 7) -> Iterator[Memory]:
    chance = random.Random(seed)
    now = int(time.time() * 1000)
    for number in range(count):
        # A few words are common, most are rare, as in any text.
        words = [f"{each}{chance.randrange(80)}" for each in chance.choices(_WORDS, k=10)]
        words[2:4] = chance.choices(_WORDS, k=2)
        text = f"The {words[0]} of {words[1]} {number % 997} uses {' '.join(words[2:8])} since {words[8]} {words[9]}."
        at = now - chance.randrange(300) * _DAY_MS
        layer = Layer.EPISODIC if number % 2 else Layer.SEMANTIC
        tags = (f"tool:{words[0]}", "domain:bench") if number % 5 == 0 else ()
        yield Memory(
            MemoryId(f"mem_{number:08}"),
            layer,
            f"{words[0]}-{number}",
            text,
            at,
            at,
            kind="episode" if number % 2 else "fact",
            tags=tags,
            provenance=Provenance(),
            digest=digest_of(text, None),
        )


def fill(store: RememberedStore, count: int) -> None:
    drawn = np.random.default_rng(7)
    name = store.services.memories.meaning.name
    assert name is not None
    made = list(memories(count))
    for at in range(0, count, _BATCH):
        some = made[at : at + _BATCH]
        store.services.store.memories.put(NS, some)
        rows = unit(drawn.standard_normal((len(some), _DIMENSION)).astype(np.float32))
        pairs = [(memory, row[None]) for memory, row in zip(some, rows, strict=True)]
        store.services.store.memory_vectors.put(NS, name, pairs)
    for each in json.loads(PAIRS.read_text(encoding="utf-8"))["memories"]:
        store.remember(each["text"], kind="fact")
    store.embed()


def timed(ask: Any, questions: Sequence[str]) -> tuple[list[float], list[Any]]:
    times, answers = [], []
    for question in questions:
        began = time.perf_counter()
        answers.append(ask(question))
        times.append((time.perf_counter() - began) * 1000)
    return times, answers


def _spin() -> None:
    while True:
        pass


@contextmanager
def load(processes: int) -> Iterator[None]:
    """As many busy processes."""
    busy = [multiprocessing.Process(target=_spin, daemon=True) for _ in range(processes)]
    for each in busy:
        each.start()
    try:
        yield
    finally:
        for each in busy:
            each.terminate()
            each.join()


@contextmanager
def hung_socket() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen(64)
        yield int(server.getsockname()[1])


def row(name: str, times: Sequence[float], answers: Sequence[Any]) -> list[object]:
    items = max((len(each["summaries"]) for each in answers), default=0)
    size = max((sum(len(one["snippet"].encode()) for one in each["summaries"]) for each in answers), default=0)
    late = sum(not each["complete"] for each in answers)
    worst = max(times)
    return [name, percentile(times, 0.5), percentile(times, 0.95), worst, verdict(worst, _BAR_MS), items, size, late]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=100_000)
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    known = json.loads(PAIRS.read_text(encoding="utf-8"))["questions"]
    asked = [each["query"] for each in known if each["memory"]][:_ASKED]
    with tempfile.TemporaryDirectory() as at, hung_socket() as port:
        folder = Path(at)
        with RememberedStore(folder, enable_orch_context=True) as store:
            began = time.perf_counter()
            fill(store, arguments.memories)
            filled_s = time.perf_counter() - began
            timed(store.recall, asked[:5])
            recalled, _ = timed(store.recall, asked)
            with load(4):
                under_load, _ = timed(store.recall, asked)
            call = _automatic(store)
            timed(call, asked[:5])
            rows = [row("at rest", *timed(call, asked))]
            with load(4):
                rows.append(row("4 busy processes", *timed(call, asked)))
        with RememberedStore(folder, enable_orch_context=True, chroma_host="127.0.0.1", chroma_port=port) as store:
            call = _automatic(store)
            rows.append(row("server that hangs, from the first call", *timed(call, asked[:_ASKED_HUNG])))
            with load(4):
                rows.append(row("both", *timed(call, asked[:_ASKED_HUNG])))
    columns = ("automatic recall", "p50 ms", "p95 ms", "max ms", "400 ms", "items", "bytes", "cut short")
    print(f"{arguments.memories:,} memories, put down in {filled_s:.0f} s")
    figures = [
        ["at rest", percentile(recalled, 0.5), percentile(recalled, 0.95), max(recalled)],
        ["4 busy processes", percentile(under_load, 0.5), percentile(under_load, 0.95), max(under_load)],
    ]
    print(table("recall", ("", "p50 ms", "p95 ms", "max ms"), figures))
    print(table("Automatic recall", columns, rows))
    keep("recall_latency", {"memories": arguments.memories, "recall": figures, "automatic": rows}, arguments.results)


def _automatic(store: RememberedStore) -> Any:
    store.services.memories.meaning.warm()
    store.services.memories.meaning.near(NS, "warm", MemoryFilter(), 1)
    return lambda question: store.call(
        "retrieve_relevant_context", tool_name="Bash", args={"description": question, "command": "make"}, session_id="s"
    )


if __name__ == "__main__":
    main()
