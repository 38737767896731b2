"""Conversations for tests: a short way to write them, and the dialogues with labels."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ovillo.model.clock import from_iso
from ovillo.references.mentions import Conversation
from ovillo.references.model import Entity, Resolution, Turn
from ovillo.references.resolver import resolve
from ovillo.search.lexicon import lexicon

NOW = from_iso("2026-11-20T10:00:00Z") or 0
_HOUR = 3_600_000


@dataclass(frozen=True, slots=True)
class Dialogue:
    """``expected`` are ids; empty where the right answer is to abstain."""

    id: str
    lang: str
    query: str
    now: int
    conversation: Conversation
    expected: tuple[str, ...]


def talk(entities: Sequence[tuple[str, ...]], *said: str) -> Conversation:
    """``entities``: (type, name, file?) each; their names are their ids. ``said``: turns, the person's first, alternating."""
    known = [Entity(name, kind, name, (), rest[0] if rest else None) for kind, name, *rest in entities]
    began = NOW - len(said) * 60_000
    turns = [Turn("s", began + n * 60_000, ("user", "assistant")[n % 2], text) for n, text in enumerate(said)]
    return Conversation(known, turns, "s")


def ask(query: str, conversation: Conversation, now: int = NOW) -> Resolution:
    return resolve(query, conversation, now, translate=lexicon().translations)


def meant(query: str, conversation: Conversation) -> list[str]:
    """Names of what the query refers to."""
    return [entity.name for entity in ask(query, conversation).entities]


def dialogues(path: Path) -> Iterator[Dialogue]:
    for line in path.read_text(encoding="utf-8").splitlines():
        yield _dialogue(json.loads(line))


def _dialogue(line: dict[str, Any]) -> Dialogue:
    entities = [
        Entity(each["id"], each["type"], each["name"], tuple(each.get("aliases", ())), each.get("file"))
        for each in line["entities"]
    ]
    turns = [Turn(each["session"], from_iso(each["ts"]), each["role"], each["text"]) for each in line["turns"]]
    return Dialogue(
        line["id"],
        line["lang"],
        line["query"],
        from_iso(line["now"]) or 0,
        Conversation(entities, turns, line["session"]),
        tuple(line["expected_entities"]) if line["expected"] == "resolved" else (),
    )
