"""Reference resolution on labelled dialogues: ``python -m bench.references --input FILE --output predictions.jsonl``.

Each line of the input is one query with the turns before it and the entities they name. Predictions are made from these
alone; where the input has labels, accuracy is printed by language and by type of reference beside two yardsticks that know
no grammar (the last thing named, the last one of the type that is asked for). Ends with the time a query takes on a session
of 1,000 turns: time of the processor, which other work on the machine does not add to.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from bench.tables import keep, percentile, table, verdict
from ovillo.model.clock import from_iso
from ovillo.references.detection import detect
from ovillo.references.mentions import Conversation
from ovillo.references.model import Entity, Resolution, Status, Turn
from ovillo.references.resolver import resolve
from ovillo.search.lexicon import lexicon

_ACCURACY, _WRONG, _MS = 0.9, 0.02, 5.0
_TURNS, _ROUNDS = 1_000, 5

#: Names what a query means: ids of entities in order, and whether it is sure of them.
Guess = Callable[[str, Conversation, int], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Item:
    id: str
    query: str
    now: int
    conversation: Conversation
    #: Only looked at after the predictions were made.
    labels: Mapping[str, Any]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--input", type=Path, required=True, help="dialogues, a JSON object a line")
    parser.add_argument("--output", type=Path, default=Path("predictions.jsonl"))
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    items = [_item(json.loads(line)) for line in arguments.input.read_text(encoding="utf-8").splitlines() if line]
    lexicon()  # read once by every process; not what a query costs
    found: dict[str, Resolution] = {}
    took: list[float] = []
    for item in items:
        began = time.thread_time()
        found[item.id] = _resolve(item.query, item.conversation, item.now)
        took.append((time.thread_time() - began) * 1e3)
    lines = [json.dumps(_prediction(item, found[item.id]), ensure_ascii=False) for item in items]
    arguments.output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(f"{len(items)} queries; predictions are in {arguments.output}")
    result: dict[str, Any] = {"queries": len(items), "p95_ms": percentile(took, 0.95)}
    labelled = [item for item in items if "expected" in item.labels]
    if labelled:
        result |= _report(labelled, found)
    long = _long(items)
    print(table("\nTime of a query (ms)", ["session", "p50", "p95", "bar"], [_times("as given", took), _times(*long)]))
    print(f"p95 on {_TURNS} turns under {_MS:g} ms: {verdict(percentile(long[1], 0.95), _MS)}")
    keep("references", {**result, "p95_ms_1000_turns": percentile(long[1], 0.95)}, arguments.results)
    return 0


def _item(line: dict[str, Any]) -> Item:
    entities = [
        Entity(each["id"], each["type"], each["name"], tuple(each.get("aliases") or ()), each.get("file"))
        for each in line["entities"]
    ]
    turns = [Turn(each["session"], from_iso(each.get("ts")), each["role"], each["text"]) for each in line["turns"]]
    now = from_iso(line.get("now")) or max((turn.at for turn in turns if turn.at is not None), default=0)
    return Item(line["id"], line["query"], now, Conversation(entities, turns, line.get("session")), line)


def _resolve(query: str, conversation: Conversation, now: int) -> Resolution:
    return resolve(query, conversation, now, translate=lexicon().translations)


def _prediction(item: Item, found: Resolution) -> dict[str, Any]:
    return {
        "id": item.id,
        "entities": [entity.id for entity in found.entities],
        "confidence": found.confidence,
        "status": found.status.value,
        "expanded": found.expanded,
    }


def _report(items: Sequence[Item], found: Mapping[str, Resolution]) -> dict[str, Any]:
    guesses: dict[str, Guess] = {
        "ovillo": lambda query, conversation, now: (),
        "last named": _last_named,
        "last named of the type": _last_of_type,
    }
    answers = {name: {x.id: guess(x.query, x.conversation, x.now) for x in items} for name, guess in guesses.items()}
    answers["ovillo"] = {
        x.id: [entity.id for entity in found[x.id].entities] if found[x.id].status is Status.RESOLVED else []
        for x in items
    }
    rows: list[list[Any]] = []
    for name, answered in answers.items():
        right = sum(_is_right(x, answered[x.id]) for x in items)
        negatives = [x for x in items if x.labels["expected"] != "resolved"]
        wrong = sum(bool(answered[x.id]) for x in negatives)
        rows.append([name, len(items), right / len(items), len(negatives), wrong])
    columns = ["who", "queries", "accuracy", "negatives", "wrongly resolved"]
    print(table("\nAll of them", columns, rows))
    ours = answers["ovillo"]
    for title, key in (("language", "lang"), ("type of reference", "ref_type"), ("label", "expected")):
        print(table(f"\nBy {title}", [title, "queries", "accuracy"], _by(items, key, ours)))
    accuracy, negatives, wrong = rows[0][2], rows[0][3], rows[0][4]
    share = wrong / negatives if negatives else 0.0
    print(f"\naccuracy >= {_ACCURACY}: {verdict(accuracy, _ACCURACY, at_least=True)}")
    print(f"wrong on negatives <= {_WRONG:.0%}: {verdict(share, _WRONG)}")
    return {"accuracy": accuracy, "negatives": negatives, "wrongly_resolved": wrong}


def _by(items: Iterable[Item], key: str, answered: Mapping[str, Sequence[str]]) -> list[list[Any]]:
    groups: dict[str, list[bool]] = {}
    for item in items:
        groups.setdefault(str(item.labels.get(key)), []).append(_is_right(item, answered[item.id]))
    return [[name, len(right), sum(right) / len(right)] for name, right in sorted(groups.items())]


def _is_right(item: Item, answered: Sequence[str]) -> bool:
    if item.labels["expected"] != "resolved":
        return not answered
    return list(answered) == list(item.labels["expected_entities"])


def _last_named(query: str, conversation: Conversation, now: int) -> Sequence[str]:
    return next(([turn[-1].entity.id] for turn in reversed(conversation.by_turn) if turn), [])


def _last_of_type(query: str, conversation: Conversation, now: int) -> Sequence[str]:
    heads = next((x.heads for x in detect(query, now, conversation.language).references if x.heads), None)
    for turn in reversed(conversation.by_turn):
        for mention in reversed(turn):
            if heads is None or mention.entity.type in heads:
                return [mention.entity.id]
    return []


def _long(items: Sequence[Item]) -> tuple[str, list[float]]:
    """Queries asked at the end of a session made of all dialogues over and over, every entity of theirs known."""
    entities: dict[str, Entity] = {}
    turns: list[Turn] = []
    for number, item in enumerate(chain.from_iterable(repeat(items, 1 + _TURNS // max(1, len(items))))):
        for entity in item.conversation.entities:
            entities.setdefault(entity.name, Entity(entity.name, entity.type, entity.name, entity.aliases, entity.file))
        turns += [Turn("long", turn.at, turn.role, turn.text) for turn in item.conversation.turns]
        if len(turns) >= _TURNS or number > _TURNS:
            break
    conversation = Conversation(entities.values(), turns[:_TURNS], "long")
    took = []
    for _ in range(_ROUNDS):
        for item in items:
            began = time.thread_time()
            _resolve(item.query, conversation, item.now)
            took.append((time.thread_time() - began) * 1e3)
    return f"{len(conversation.turns)} turns, {len(entities)} entities", took


def _times(name: str, took: Sequence[float]) -> list[Any]:
    return [name, percentile(took, 0.5), percentile(took, 0.95), _MS]


if __name__ == "__main__":
    sys.exit(main())
