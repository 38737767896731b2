"""Needles: things planted in a corpus, how they are asked for, and whether an answer found them.

The file ``needles.json`` beside a corpus is a list of objects with ``id``, ``class`` (exact, paraphrase, substring,
regex, accents, cjk), ``query``, ``literal`` (the query for tools without regular expressions), ``session`` and ``place``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

#: "Core" is everything but the bonus class.
CLASSES = ("exact", "paraphrase", "substring", "regex", "accents", "cjk")
_ID = re.compile(
    r"agent-a[0-9a-f]{7,16}|\ba[0-9a-f]{7,16}\b|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{8}\b"
)


@dataclass(frozen=True, slots=True)
class Needle:
    id: str
    kind: str
    query: str
    literal: str
    session: str
    place: str


def load(corpus: Path) -> list[Needle]:
    rows = json.loads((corpus / "needles.json").read_text(encoding="utf-8"))
    return [
        Needle(
            row["id"],
            row["class"],
            row["query"],
            row.get("literal") or row["query"],
            row["session"],
            row.get("place", ""),
        )
        for row in rows
        if row["class"] != "grown"
    ]


def accepted_ids(corpus: Path, needle: Needle) -> set[str]:
    """The session's id, and for a needle in a sub-agent the sub-agent's own."""
    ids = {needle.session}
    if needle.place == "sidechain":
        for path in (corpus / ".claude" / "projects").glob(f"*/{needle.session}/subagents/*.jsonl"):
            ids |= {path.stem, path.stem.removeprefix("agent-")}
    return ids


def printed_ids(text: str) -> list[str]:
    """Session ids in the order in which a tool printed them, each once."""
    return list(dict.fromkeys(_ID.findall(text)))


def rank(accepted: Iterable[str], answered: Sequence[str]) -> int:
    """1-based rank of the first right id; 0 when there is none. Tools may print only the beginning of an id."""
    wanted = list(accepted)
    for position, got in enumerate(answered, 1):
        if any(id_ == got or id_.endswith(got) or (len(got) >= 8 and id_.startswith(got)) for id_ in wanted):
            return position
    return 0


def recall(ranks: Iterable[tuple[Needle, int]], depth: int = 10) -> dict[str, tuple[int, int]]:
    """``class -> (found within depth, asked)``, and ``core`` over all classes but cjk."""
    totals: dict[str, list[int]] = {}
    for needle, position in ranks:
        for name in (needle.kind, *(() if needle.kind == "cjk" else ("core",))):
            found = totals.setdefault(name, [0, 0])
            found[0] += 0 < position <= depth
            found[1] += 1
    return {name: (found, asked) for name, (found, asked) in totals.items()}
