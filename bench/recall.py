"""What ``recall`` finds: questions in four languages about memories in four languages, and LoCoMo by memories.

    python -m bench.recall --results DIR                                   # the pairs of bench/recall_pairs.json
    python -m bench.recall --locomo DIR --output predictions.jsonl         # a turn a memory, ranked evidence of each question

The pairs: 40 memories, 120 questions with one right memory each, 40 questions about nothing that is remembered, and 40 about
something else of the same matter. The coefficients of ``memory/meaning.py`` were fitted on memories with an even number: only the
other half says how good they are. LoCoMo's data is not part of the project (``bench.locomo`` tells its form).
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.locomo import conversations, deltas
from bench.remembered import RememberedStore
from bench.tables import keep, percentile, table

PAIRS = Path(__file__).parent / "recall_pairs.json"
_MOST = 50


def pairs(embedder: str) -> list[dict[str, Any]]:
    """Every question with the rank of its memory (from 1, 0 for not recalled) and how many came back."""
    known = json.loads(PAIRS.read_text(encoding="utf-8"))
    rows = []
    with tempfile.TemporaryDirectory() as folder, RememberedStore(Path(folder), embedder) as store:
        ids = {store.remember(each["text"], kind="fact"): each for each in known["memories"]}
        store.embed()
        for question in known["questions"]:
            found = [ids[each] for each in store.recall(question["query"])]
            names = [each["id"] for each in found]
            right = question["memory"]
            of = right or question.get("about")
            rows.append(
                {
                    **question,
                    "rank": names.index(right) + 1 if right in names else 0,
                    "recalled": len(found),
                    "of_odd": int((of or question["id"])[1:]) % 2 == 1,
                    "crosses": right is not None
                    and question["language"] != next(m["language"] for m in known["memories"] if m["id"] == right),
                }
            )
    return rows


def report(rows: Sequence[dict[str, Any]], title: str) -> str:
    lines: list[list[object]] = []
    asked = [row for row in rows if row["memory"]]
    kinds = [("all", asked), ("same language", [r for r in asked if not r["crosses"]])]
    kinds += [("other language", [r for r in asked if r["crosses"]])]
    kinds += [(f"asked in {each}", [r for r in asked if r["language"] == each]) for each in ("en", "es", "fr", "pt")]
    for name, some in kinds:
        first = sum(row["rank"] == 1 for row in some) / len(some)
        three = sum(0 < row["rank"] <= 3 for row in some) / len(some)
        lines.append([name, len(some), first, three, sum(row["recalled"] for row in some) / len(some), None])
    for name, some in (
        ("nothing remembered", [r for r in rows if not r["memory"] and "about" not in r]),
        ("something else of it", [r for r in rows if "about" in r]),
    ):
        junk = sum(row["recalled"] > 0 for row in some) / len(some)
        lines.append([name, len(some), None, None, sum(row["recalled"] for row in some) / len(some), junk])
    return table(title, ("questions", "n", "first", "in three", "memories each", "junk"), lines)


def locomo(folder: Path, output: Path, embedder: str) -> str:
    times: list[float] = []
    with output.open("w", encoding="utf-8") as out:
        for sample in conversations(folder):
            with tempfile.TemporaryDirectory() as at, RememberedStore(Path(at), embedder) as store:
                turns = {}
                for delta in deltas(sample["conversation"]):
                    for message in delta.messages:
                        turns[store.remember(message.parts[0].text, kind="episode")] = str(message.id)
                store.embed()
                for index, question in enumerate(sample["qa"]):
                    began = time.perf_counter()
                    found = store.recall(str(question["question"]), _MOST)
                    times.append((time.perf_counter() - began) * 1000)
                    ranked = [turns[each] for each in found if each in turns]
                    row = {"question_id": f"{sample['sample_id']}#{index}", "ranked_evidence_ids": ranked}
                    out.write(json.dumps(row) + "\n")
    figures = [len(times), percentile(times, 0.5), percentile(times, 0.95)]
    return table("LoCoMo by recall", ("questions", "p50 ms", "p95 ms"), [figures])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="minilm", help="minilm (as installed) or none")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    parser.add_argument("--locomo", type=Path)
    parser.add_argument("--output", type=Path, help="predictions, with --locomo")
    arguments = parser.parse_args()
    if arguments.locomo:
        if arguments.output is None:
            parser.error("--locomo writes predictions: give --output")
        print(locomo(arguments.locomo, arguments.output, arguments.embedder))
        return
    rows = pairs(arguments.embedder)
    print(report([row for row in rows if row["of_odd"]], "Measured only (odd half)"))
    print(report([row for row in rows if not row["of_odd"]], "Looked at for the rules (even half)"))
    keep("recall", {"embedder": arguments.embedder, "questions": rows}, arguments.results)


if __name__ == "__main__":
    main()
