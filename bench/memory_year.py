"""A year of remembering, made up: what is left of it at month 12, and what is recalled.

    python -m bench.memory_year --results DIR [--embedder none]

Every working day agents put down facts about forty services (the same in other words, again and again), change some of them with
``replaces`` and some without, and tell what happened and what holds for today only. The clock of the store goes with the days.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.remembered import RememberedStore
from bench.tables import keep, table
from ovillo.model.memories import Layer, MemoryFilter, MemoryState
from ovillo.model.records import DEFAULT_NAMESPACE

_DAY_MS = 86_400_000
_START = 1_767_225_600_000
_SERVICES = (
    *("ledger", "gateway", "billing", "search", "mailer", "scheduler", "catalogue", "thumbnail", "inventory", "auth"),
    *(
        "export",
        "import",
        "backup",
        "metrics",
        "payment",
        "notification",
        "archive",
        "translation",
        "report",
        "session",
    ),
)
_FACTS = {
    "port": (
        "The {name} service listens on port {value}.",
        "the {name} service listens on port {value}",
        "The {name} service listens on port {value}!",
    ),
    "owner": (
        "The {name} service is owned by team {value}.",
        "the {name} service is owned by team {value}",
        "The {name} service is owned by team {value} .",
    ),
}
_TEAMS = ["amber", "birch", "cedar", "dune", "ember", "flint", "grove", "heath", "islet", "jade"]
_QUESTIONS = {"port": "On which port does the {name} service listen?", "owner": "Which team owns the {name} service?"}
_HAPPENED = "Yesterday the {name} service was restarted because {why} (case {number})."
_WHYS = ("the disk was full", "a certificate had expired", "the queue was stuck", "memory ran out", "a release failed")
_NOTE = "The {name} service runs with debug output for now (ticket {number})."


@dataclass
class Year:
    store: RememberedStore
    chance: random.Random
    told: Counter[str] = field(default_factory=Counter)
    #: Subject -> its value now, and those it had before.
    values: dict[tuple[str, str], list[str]] = field(default_factory=dict)
    #: Subjects whose last change said that it replaces.
    replaced: dict[tuple[str, str], bool] = field(default_factory=dict)
    cases: dict[int, tuple[int, str]] = field(default_factory=dict)

    def day(self, number: int) -> None:
        for _ in range(2):
            self.fact(*self.subject())
        if number % 4 == 0:
            self.change(*self.subject())
        name, case = self.chance.choice(_SERVICES), 1_000 + number
        self.put(
            "episode", self.store.remember(_HAPPENED.format(name=name, why=self.chance.choice(_WHYS), number=case))
        )
        self.cases[case] = (number, name)
        self.put("note", self.store.remember(_NOTE.format(name=name, number=number)))

    def subject(self) -> tuple[str, str]:
        return self.chance.choice(_SERVICES), self.chance.choice(list(_FACTS))

    def fact(self, name: str, what: str) -> None:
        known = self.values.setdefault((name, what), [self.value(what)])
        text = self.chance.choice(_FACTS[what]).format(name=name, value=known[-1])
        self.put("fact", self.store.remember(text, kind="fact"))

    def change(self, name: str, what: str) -> None:
        known = self.values.setdefault((name, what), [])
        known.append(self.value(what))
        self.replaced[name, what] = replaces = self.chance.random() < 0.5
        text = _FACTS[what][0].format(name=name, value=known[-1])
        self.put(
            "change, replacing" if replaces else "change", self.store.remember(text, kind="fact", replaces=replaces)
        )

    def value(self, what: str) -> str:
        return str(self.chance.randrange(3_000, 9_000)) if what == "port" else self.chance.choice(_TEAMS)

    def put(self, kind: str, _: str) -> None:
        self.told[kind] += 1


def run(folder: Path, embedder: str) -> dict[str, Any]:
    chance = random.Random(12)
    at = [_START]
    with RememberedStore(folder, embedder, lambda: at[0]) as store:
        year = Year(store, chance)
        for number in range(260):
            at[0] = _START + int(number * 365 / 260) * _DAY_MS
            year.day(number)
        at[0] = _START + 365 * _DAY_MS
        store.embed()
        return {"told": dict(year.told), "left": _left(store), "recalled": _recalled(store, year)}


def _left(store: RememberedStore) -> dict[str, int]:
    """Memories by layer and state, those alive at the end."""
    counted: Counter[str] = Counter()
    for layer in ("short_term", "episodic", "semantic"):
        for state in ("active", "superseded", "proposed"):
            where = MemoryFilter(layers=(Layer(layer),), states=(MemoryState(state),))
            found = store.services.memories.listed(DEFAULT_NAMESPACE, where, 10_000)
            if found:
                counted[f"{layer}, {state}"] = len(found)
    return dict(counted)


def _recalled(store: RememberedStore, year: Year) -> list[list[object]]:
    rows: list[list[object]] = []
    changed = [each for each in year.values if len(set(year.values[each])) > 1]
    for title, some in (
        ("facts that never changed", [each for each in year.values if len(set(year.values[each])) == 1]),
        ("changed, said to replace", [each for each in changed if year.replaced[each]]),
        ("changed, nobody said so", [each for each in changed if not year.replaced[each]]),
    ):
        first = marked = stale = copies = 0
        for name, what in some:
            found = store.call("recall", query=_QUESTIONS[what].format(name=name), limit=5)["memories"]
            about = [
                each for each in found if f"The {name} ".lower() in each["text"].lower() and _is_of(what, each["text"])
            ]
            now, before = year.values[name, what][-1], set(year.values[name, what][:-1])
            first += bool(about) and _says(about[0]["text"], now)
            old = [each for each in about if any(_says(each["text"], one) for one in before - {now})]
            stale += bool(old)
            marked += bool(old) and all(each.get("contradicts") or each.get("contradicted_by") for each in old)
            copies += len(about) - len({each["text"].lower().rstrip(" .!") for each in about})
        rows.append([title, len(some), first / len(some), stale / len(some), marked, copies])
    for title, days in (("episodes of the last month", range(238, 260)), ("episodes of the first month", range(22))):
        some_cases = [case for case, (day, _) in year.cases.items() if day in days]
        found_cases = 0
        for case in some_cases:
            name = year.cases[case][1]
            found = store.call("recall", query=f"case {case} of the {name} service", limit=5)["memories"]
            found_cases += bool(found) and f"case {case}" in found[0]["text"]
        rows.append([title, len(some_cases), found_cases / len(some_cases), None, None, None])
    return rows


def _is_of(what: str, text: str) -> bool:
    return ("port" in text) if what == "port" else ("team" in text)


def _says(text: str, value: str) -> bool:
    return value in text.rstrip(" .!").split()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", default="minilm")
    parser.add_argument("--results", type=Path, default=Path("bench-results"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        result = run(Path(folder), arguments.embedder)
    print(table("Put down in a year", ("kind", "times"), [list(each) for each in sorted(result["told"].items())]))
    print(table("Left at month 12", ("layer and state", "memories"), [list(each) for each in result["left"].items()]))
    columns = ("recalled at month 12", "questions", "right first", "an old value shown", "of these marked", "copies")
    print(table("Recalled", columns, result["recalled"]))
    keep("memory_year", result, arguments.results)


if __name__ == "__main__":
    main()
