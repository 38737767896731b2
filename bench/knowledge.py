"""Answering from knowledge documents: ``python -m bench.knowledge --input DIR``.

The folder holds ``documents/`` and ``questions.jsonl`` (question, language, answer: text that must be quoted, or null where
the documents do not say). Prints what was answered rightly, wrongly, and abstained from, with vectors and by words alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table
from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.settings import Settings

_LOOKED_AT = 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--output", type=Path, default=Path("predictions.jsonl"))
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    lines = (arguments.input / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    asked = [json.loads(line) for line in lines if line.strip()]
    rows: list[list[Any]] = []
    predictions: list[dict[str, Any]] = []
    for embedder in ("minilm", "none"):
        with _opened(arguments.input / "documents", embedder) as services:
            found, took = _answers(services, asked)
        counts = Counter(_judged(question, answer) for question, answer in zip(asked, found, strict=True))
        rows.append([embedder, *(counts[kind] for kind in _KINDS), percentile(took, 0.5), percentile(took, 0.95)])
        predictions += [
            {"question": question["question"], "embedder": embedder, "passages": answer}
            for question, answer in zip(asked, found, strict=True)
        ]
    text = "\n".join(json.dumps(each, ensure_ascii=False) for each in predictions)
    arguments.output.write_text(text + "\n", encoding="utf-8")
    print(table(f"{len(asked)} questions", ["embedder", *_KINDS, "p50 ms", "p95 ms"], rows))
    keep("knowledge", {"questions": len(asked), "rows": rows}, arguments.results)
    return 0


_KINDS = ("answered rightly", "answered wrongly", "abstained, was there", "abstained, was not there")


def _judged(question: dict[str, Any], passages: list[str]) -> str:
    answer = question["answer"]
    if not passages:
        return _KINDS[3] if answer is None else _KINDS[2]
    return _KINDS[0] if answer and any(answer in passage for passage in passages) else _KINDS[1]


@contextmanager
def _opened(documents: Path, embedder: str) -> Iterator[Services]:
    with tempfile.TemporaryDirectory() as folder:
        services = open_services(Settings(data_dir=Path(folder), home=Path(folder), embedder=embedder))
        try:
            services.knowledge.add(DEFAULT_NAMESPACE, [documents])
            yield services
        finally:
            services.close()


def _answers(services: Services, asked: list[dict[str, Any]]) -> tuple[list[list[str]], list[float]]:
    found: list[list[str]] = []
    took: list[float] = []
    for question in asked:
        began = time.perf_counter()
        hits = services.knowledge.search(DEFAULT_NAMESPACE, question["question"]).hits
        took.append((time.perf_counter() - began) * 1e3)
        found.append([hit.text for hit in hits[:_LOOKED_AT]])
    return found, took


if __name__ == "__main__":
    sys.exit(main())
