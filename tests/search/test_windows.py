"""Searching texts of any size: in windows, with the same matches, and within the time there is."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovillo.model.errors import InvalidInput
from ovillo.search import evidence
from ovillo.search.regexes import compile_regex
from ovillo.search.windows import OutOfTime, Windows, spans
from tests.builders import delta, message
from tests.search.corner import corner

SMALL = Windows(size=64, largest=128, overlap=48, longest=200)
#: None matches more than 40 bytes of the alphabet below.
EXPRESSIONS = [
    r"^a", r"b$", r"\bab\b", r"a+b", r"ñ.{0,4}漢", r"^$", r"\Aab", r"b\z", r"(?i)AB", r"🙂", r"[^\n]{1,8}\n", r"", r"\B1", r"\s+x",
]  # fmt: skip
HUGE = 30_000_000


@pytest.mark.requirement("LOAD-5")
@settings(max_examples=300, deadline=None)
@given(st.sampled_from(EXPRESSIONS), st.text("ab1 x\nñ漢🙂", max_size=600))
def test_windows_find_what_the_whole_text_holds(expression: str, text: str) -> None:
    compiled = compile_regex(expression)._compiled
    whole = [(match.start(), match.end()) for match in compiled.finditer(text) if match.end() > match.start()]
    parts = [(start, end) for start, end in spans(compiled, text, None, SMALL) if end > start]
    assert [each for each in whole if each[1] - each[0] <= 10] == [each for each in parts if each[1] - each[0] <= 10]


@pytest.mark.requirement("LOAD-5")
@pytest.mark.parametrize("where", [0, 8_187, 8_195, 24_570, 32_764, 65_530, 300_001])
def test_a_match_at_the_border_of_windows_is_found_once(where: int) -> None:
    text = "ñ " * (where // 2) + "needle 42" + " x\n" * 200_000
    at = text.index("needle")
    assert compile_regex(r"\bneedle \d+\b").find_all(text, 9) == [(at, at + 9)]
    assert evidence.find_text(text, "NEEDLE  42", whole=True) == [(at, at + 9)]
    assert evidence.find_text(text, "eedle", whole=True) == []


@pytest.mark.requirement("LOAD-5")
def test_the_deadline_holds_inside_a_text() -> None:
    text = "abc def ghi\n" * (HUGE // 12)
    slow = compile_regex("(?i)(a.{0,200}b.{0,200}c){2}#")
    over = time.monotonic() - 1
    with pytest.raises(OutOfTime):
        slow.find(text, over)
    with pytest.raises(OutOfTime):
        evidence.find_text(text, "nowhere", deadline=over)
    assert slow.find_all(text, 5, over) == []


class Counting:
    """RE2, and how much it was asked to read."""

    def __init__(self, compiled: Any) -> None:
        self._compiled = compiled
        self.read = 0

    def search(self, data: bytes, start: int, end: int) -> Any:
        self.read += end - start
        return self._compiled.search(data, start, end)


@pytest.mark.requirement("LOAD-5")
@pytest.mark.parametrize("expression", ["[^#]{1,900}#", "(?s).{1000}#", "(?i)(a.{0,300}b.{0,300}c.{0,300}){2}#"])
def test_what_cannot_be_read_in_time_is_not_begun(expression: str) -> None:
    counting = Counting(compile_regex(expression)._compiled)
    with pytest.raises(OutOfTime):
        next(spans(counting, "abc " * 100_000, time.monotonic() + 0.001))
    assert counting.read < 2_000


@pytest.mark.requirement("LOAD-5")
def test_a_search_by_a_slow_expression_is_cut_inside_a_text_and_a_place_far_inside_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    noise = "".join(random.Random(8).choices("abcdefgh ", k=190_000))
    long = f"{noise} the ORDER-4711 was lost here. {noise}"
    with corner(tmp_path, delta(message("m1", 1, long), message("m2", 2, long))) as c:
        cut = c.ask("/(?i)(a.{0,300}b.{0,300}c.{0,300}){2}#/")
        assert cut.sessions == ()
        assert cut.cut is not None
        assert "inside" in cut.cut
        # Where it stands is told by what the expression reads, on a busy machine, too: nobody hurries it here.
        monkeypatch.setattr("ovillo.search.service.PATTERN_BUDGET_MS", 600_000)
        monkeypatch.setattr("ovillo.search.by_pattern._MARK_S", 600.0)
        hit = c.ask(r"/ORDER-\d{4} was/").sessions[0].hits[0]
        assert "ORDER-4711 was lost" in hit.snippet
        assert [hit.snippet[start:end] for start, end in hit.highlights] == ["ORDER-4711 was"]


@pytest.mark.requirement("LOAD-5")
def test_an_expression_that_counts_too_far_is_refused() -> None:
    with pytest.raises(InvalidInput, match="counts too far"):
        compile_regex(r"\p{L}{120}")
