"""LoCoMo questions through ``POST /get_context``: whether the evidence is among the first places, answered with or not.

Owns ``bench.locomo --by context``: a store a conversation, written over REST as any client would (a session each, one message
a turn under its own id), embedded by ``ovillo embed``, asked over HTTP without a session. Evidence is read for the table only.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.servers import OvilloServer
from bench.tables import table

#: Questions of this category ask for what was never said.
_UNANSWERABLE = 5
_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
_EVIDENCE = re.compile(r"D(\d+):(\d+)")
_FIRST = 3
_BATCH = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came back."""

    question_id: str
    category: int
    evidence: frozenset[str]
    ranked: tuple[str, ...]
    abstained: bool
    confidence: float

    @property
    def has_found(self) -> bool:
        return not self.evidence.isdisjoint(self.ranked[:_FIRST])


def ask_all(sample: Mapping[str, Any], sessions: Mapping[str, Sequence[Mapping[str, Any]]]) -> Iterator[Asked]:
    """Every question of one conversation; ``sessions`` are its messages as they are appended, by session id."""
    known = {message["id"] for messages in sessions.values() for message in messages}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with OvilloServer(folder) as server:
            for session, messages in sessions.items():
                server.post("/api/sessions", {"id": session, "name": session})
                for at in range(0, len(messages), _BATCH):
                    batch = {"messages": list(messages[at : at + _BATCH])}
                    server.post(f"/api/sessions/{session}/messages/batch", batch)
        _embed(folder)
        with OvilloServer(folder, OVILLO_EMBEDDER="minilm") as server:
            for index, question in enumerate(sample["qa"]):
                answer = server.post("/get_context", {"query": str(question["question"])})
                yield Asked(
                    f"{sample['sample_id']}#{index}",
                    int(question["category"]),
                    _evidence(question, known),
                    tuple(place["id"] for place in answer["provenance"]),
                    bool(answer["abstained"]),
                    float(answer["confidence"]),
                )


def as_line(asked: Asked) -> str:
    """For ``--output``; the scorer of ranked evidence reads it, too."""
    row = {"question_id": asked.question_id, "ranked_evidence_ids": asked.ranked}
    return json.dumps({**row, "abstained": asked.abstained, "confidence": asked.confidence})


def report(everything: Sequence[Asked]) -> str:
    """Shares by category, of questions with evidence; the last row is of those that nothing answers."""
    rows = []
    answerable = [each for each in everything if each.category != _UNANSWERABLE and each.evidence]
    for name, some in (
        *((name, [each for each in answerable if each.category == number]) for number, name in _CATEGORIES.items()),
        ("answerable", answerable),
        ("unanswerable", [each for each in everything if each.category == _UNANSWERABLE]),
    ):
        if some:
            found = [each for each in some if each.has_found]
            answered = [each for each in found if not each.abstained]
            shares = [len(part) / len(some) for part in (found, answered, [x for x in some if x.abstained])]
            rows.append([name, len(some), *shares, sum(x.confidence for x in some) / len(some)])
    columns = ("questions", "n", f"in first {_FIRST}", "answered with it", "abstained", "confidence")
    return table("LoCoMo by get_context", columns, rows)


def _embed(folder: Path) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "OVILLO_DATA_DIR": str(folder / "data"),
        "OVILLO_EMBEDDER": "minilm",
    }
    subprocess.run([sys.executable, "-m", "ovillo", "embed"], env=environment, check=True, stdout=subprocess.DEVNULL)


def _evidence(question: Mapping[str, Any], known: set[str]) -> frozenset[str]:
    """Some fields hold several ids in one string, or one that does not exist."""
    text = " ".join(map(str, question.get("evidence") or []))
    return frozenset({f"D{int(a)}:{int(b)}" for a, b in _EVIDENCE.findall(text)} & known)
