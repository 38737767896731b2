"""Needles by words alone, by meaning alone and by both: what each way finds, and what fusion loses.

    python -m bench.needle_ways --input CORPUS --data DIR [--half tune|sealed] [--classes paraphrase] [--all]

CORPUS is as ``bench.needles`` has it; DIR keeps the scanned and embedded data folder. The project's own needles stand in
``own_needles.json``, in the form that a maker of corpora takes (class: [text, query(, literal)]): written before the
rules that they measure, in four languages and across them. They come in fours, of which the first two are looked at
while rules are made (``tune``) and the others at the end only (``sealed``). Printed: how many of each class stand among
the first ten sessions by each way, and the places of those that some way finds and the product does not (``--all``: of all).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from bench.needle_set import CLASSES, Needle, accepted_ids, load, rank, recall
from bench.needles import prepare
from bench.tables import table
from ovillo.app import open_services
from ovillo.composition import Composition
from ovillo.model.records import DEFAULT_NAMESPACE
from ovillo.search.by_vectors import VectorSearch
from ovillo.search.service import SearchRequest
from ovillo.settings import Settings
from ovillo.store.protocol import DocFilter

_DEPTH = 100
_TEN = 10
#: Sessions of a needle, best first.
Way = Callable[[Needle], list[str]]


def by_search(services: Composition) -> Way:
    def ask(needle: Needle) -> list[str]:
        query = f"/{needle.query}/" if needle.kind == "regex" else needle.query
        found = services.search.search(DEFAULT_NAMESPACE, SearchRequest(query, limit=_DEPTH))
        return [str(each.summary.session.id) for each in found.sessions]

    return ask


def by_meaning(services: Composition, settings: Settings) -> Way:
    """The nearest places to the query as it stands, nothing else."""
    vectors = VectorSearch(services.store.vectors, settings)

    def ask(needle: Needle) -> list[str]:
        near, _ = vectors.near(DEFAULT_NAMESPACE, needle.query, DocFilter(), [])
        best = sorted(near, key=lambda doc: -near[doc])
        places = {doc.id: doc for doc in services.store.text.docs(DEFAULT_NAMESPACE, best)}
        return list(dict.fromkeys(str(places[doc].session_id) for doc in best if doc in places))

    return ask


def in_half(needle: Needle, half: str) -> bool:
    return half == "all" or (int(needle.id.rpartition("-")[2]) % 4 < 2) == (half == "tune")


def report(needles: list[Needle], places: dict[str, list[int]], everything: bool) -> str:
    counts = {name: recall(zip(needles, ranks, strict=True), _TEN) for name, ranks in places.items()}
    rows = [
        [name, *("/".join(map(str, found[name])) for found in counts.values())]
        for name in (*CLASSES, "core")
        if name in counts["both"]
    ]
    summary = table("Among the first ten sessions", ("class", *places), rows)
    shown = [
        [needle.id, *(values[at] or None for values in places.values()), needle.query[:70]]
        for at, needle in enumerate(needles)
        if everything or not 0 < places["both"][at] <= _TEN
    ]
    return f"{summary}\n\n{table('Places (- beyond the last looked at)', ('needle', *places, 'query'), shown)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="a data folder to keep and use again")
    parser.add_argument("--half", choices=("all", "tune", "sealed"), default="all")
    parser.add_argument("--classes", default=",".join(CLASSES))
    parser.add_argument("--all", action="store_true", help="print the places of needles that were found, too")
    arguments = parser.parse_args()
    services, _, _ = prepare(arguments.input, arguments.data, "minilm")
    settings = Settings(arguments.data, arguments.input, readers=("claude_code",), watch=False)
    wordless = open_services(replace(settings, embedder="none"))
    chosen = arguments.classes.split(",")
    needles = [needle for needle in load(arguments.input) if needle.kind in chosen and in_half(needle, arguments.half)]
    ways: dict[str, Way] = {
        "words": by_search(wordless),
        "meaning": by_meaning(services, settings),
        "both": by_search(services),
    }
    accepted = [accepted_ids(arguments.input, needle) for needle in needles]
    places = {
        name: [rank(ids, way(needle)) for needle, ids in zip(needles, accepted, strict=True)]
        for name, way in ways.items()
    }
    print(report(needles, places, arguments.all))
    wordless.close()
    services.close()


if __name__ == "__main__":
    main()
