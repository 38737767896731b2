"""The benchmarks' own parts: a corpus that is the same every time, a floor that finds, and fair judging."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import ClassVar

import pytest
from bench import answers, floor, long_session, needle_set
from bench.corpus import generate, grow
from bench.symbols import module_path
from bench.tables import percentile, table

NEEDLE = needle_set.Needle("n", "exact", "q", "q", "98e2c420-c08b-4714-abd2-396ad41f6c81", "user")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpus")
    generate(folder, sessions=40, megabytes=1, seed=3)
    return folder


def test_the_same_seed_makes_the_same_corpus(corpus: Path, tmp_path: Path) -> None:
    generate(tmp_path, sessions=40, megabytes=1, seed=3)
    files = sorted(path.relative_to(corpus) for path in corpus.rglob("*.jsonl"))
    assert files == sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.jsonl"))
    assert all((corpus / name).read_bytes() == (tmp_path / name).read_bytes() for name in files)


def test_every_needle_stands_in_its_session_only(corpus: Path) -> None:
    for row in json.loads((corpus / "needles.json").read_text(encoding="utf-8")):
        holders = [
            p.stem
            for p in corpus.rglob("*.jsonl")
            if json.dumps(row["text"], ensure_ascii=False)[1:-1] in p.read_text("utf-8")
        ]
        assert holders == [row["session"]], row["id"]


def test_the_floor_finds_words_parts_of_words_and_what_was_added_later(corpus: Path, tmp_path: Path) -> None:
    generate(tmp_path, sessions=40, megabytes=1, seed=3)
    assert floor.index(tmp_path) > 0
    needles = needle_set.load(tmp_path)
    found = [(n, needle_set.rank([n.session], floor.query(tmp_path, n.literal))) for n in needles]
    recall = needle_set.recall(found)
    assert recall["exact"] == recall["substring"] == recall["accents"] == (5, 5)
    session = grow(tmp_path, "zqlatermark")
    assert floor.index(tmp_path) == 50
    assert floor.query(tmp_path, "zqlatermark") == [session]
    assert floor.index(tmp_path) == 0


def test_an_answer_counts_by_the_whole_id_or_its_beginning() -> None:
    assert needle_set.rank([NEEDLE.session], ["0" * 8, NEEDLE.session]) == 2
    assert needle_set.rank([NEEDLE.session], [NEEDLE.session[:8]]) == 1
    assert needle_set.rank([NEEDLE.session], ["98e2"]) == 0
    assert needle_set.printed_ids(f"a {NEEDLE.session} b {NEEDLE.session}") == [NEEDLE.session]


def test_recall_counts_cjk_apart_from_the_core() -> None:
    cjk = needle_set.Needle("c", "cjk", "q", "q", "s", "user")
    assert needle_set.recall([(NEEDLE, 10), (NEEDLE, 11), (cjk, 1)]) == {"exact": (1, 2), "core": (1, 2), "cjk": (1, 1)}


def test_the_long_session_has_as_many_parts_as_asked(tmp_path: Path) -> None:
    session = long_session.make_database(tmp_path / "opencode.db", 333)
    with sqlite3.connect(tmp_path / "opencode.db") as database:
        (parts,) = database.execute("SELECT count(*) FROM part WHERE session_id = ?", (session,)).fetchone()
    database.close()
    assert parts == 333


def test_tables_line_up_and_percentiles_are_values_that_were_measured() -> None:
    assert table("T", ("who", "s"), [["a", 1.0], ["bc", None]]).splitlines()[1:] == [
        "who    s",
        "---  ---",
        "a    1.0",
        "bc     -",
    ]
    assert percentile([3.0, 1.0, 2.0], 0.5) == 2.0
    assert percentile([], 0.5) == 0.0


def test_a_symbol_is_named_by_its_module() -> None:
    assert module_path("shop/payments/refunds.py") == "shop.payments.refunds"
    assert module_path("shop/payments/__init__.py") == "shop.payments"
    assert module_path("setup.py") == "setup"


def test_of_an_item_of_the_answers_only_the_question_and_its_place_are_read(tmp_path: Path) -> None:
    class Watched(dict[str, object]):
        read: ClassVar[set[str]] = set()

        def __getitem__(self, name: str) -> object:
            self.read.add(name)
            return super().__getitem__(name)

        def get(self, name: str, default: object = None) -> object:  # type: ignore[override]
            self.read.add(name)
            return super().get(name, default)

    item = Watched(
        id="q1", query="why?", project="shop", session="ses_1", kind="dialogue", gold=[], must_contain=[["x"]]
    )
    assert answers.Asked.of(item) == answers.Asked("q1", "why?", "shop", "ses_1")
    assert answers.Asked.of({**item, "kind": "why"}).session is None
    assert Watched.read == {"id", "query", "project", "session", "kind"}
