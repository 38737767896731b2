from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.model.errors import InvalidInput
from ovillo.search.regexes import compile_regex, required_literals

PATTERNS = [
    r"ORD-[0-9A-Z]{4}-99\d{3}",
    r"colou?r",
    r"ab*c",
    r"ab+c",
    r"a{2}b{0,2}c",
    r"(foo|bar)baz",
    r"x|y",
    r"\bfoo\.ts\b",
    r"[^a]z",
    r"foo(?:a|b)+bar",
    r"pre[(]x[)]post",
    r"(?i)hello world",
    r"\d+ms",
    r"a.c\*d",
]


@pytest.mark.parametrize("pattern", PATTERNS)
@given(data=st.data())
@pytest.mark.requirement("SEARCH-8")
def test_every_match_holds_the_literals(pattern: str, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(pattern))
    if compile_regex(pattern).find(text) is not None:
        assert all(literal.lower() in text.lower() for literal in required_literals(pattern))


def test_literals_are_what_the_index_can_be_asked_for() -> None:
    assert required_literals(r"ORD-[0-9A-Z]{4}-99\d{3}") == ("ORD-", "-99")
    assert required_literals(r"\Qa.b\E+") == ("a.b",)
    assert required_literals("a|b") == ()


@pytest.mark.parametrize(
    "pattern", ["(", "a{5000}", "(?=x)", r"(a)\1", "[z-a]", "x" * 2_000, "((a{500}){500}){500}", "\ud800"]
)
@pytest.mark.requirement("SEARCH-7")
def test_what_re2_refuses_is_invalid_input(pattern: str) -> None:
    with pytest.raises(InvalidInput):
        compile_regex(pattern, position=3)


def test_places_are_in_characters_not_bytes() -> None:
    assert compile_regex("é+").find("caféé x") == (3, 5)
    assert compile_regex("b").find_all("ábcb", 9) == [(1, 2), (3, 4)]


@given(st.text(max_size=30))
@pytest.mark.requirement("SEARCH-7")
def test_any_expression_compiles_or_is_refused(source: str) -> None:
    try:
        compile_regex(source).find("some text")
    except InvalidInput:
        return
