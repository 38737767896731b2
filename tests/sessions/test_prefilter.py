"""A prefilter never holds back what its expressions match."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.sessions import conclusions, decisions
from ovillo.sessions.languages import languages
from ovillo.sessions.prefilter import Prefilter, loosened

_EXPRESSIONS = [
    *(getattr(each, kind) for each in languages() for kind in ("announce", "cause", "outcome", "rejected", "pending")),
    *(conclusions._DATE, conclusions._RESULT, decisions._CUE, decisions._CHOSEN),
]
#: Shapes of expressions: each finds something in the text beside it.
_FOUND = [
    (r"\bécrit\b(?! pas)", "il écrit tout", 0),
    (r"(?<=a)b(?=c)", "abc", 0),
    (r"^\s*x$", "\u00a0x", 0),
    (r"[^\n]+?(?:[.!?](?=\s)|\Z)", "ein Satz.", 0),
    (r"\w+ \d{1,2}", "février ٣", 0),
    (r"(?i)ſtrasse|STRASSE", "strasse", 0),
    (r"k{2,300}", "k" * 150, 0),
    (r"[k-m]+", "\u212a", re.IGNORECASE),
    (r"a\Sb", "aéb", 0),
    (r"(a)\1", "aa", 0),
    (r"x++y", "xxy", 0),
    (r"[^a]", "\n", 0),
    (r".", "\n", re.DOTALL),
]


@pytest.mark.parametrize(("text", "subject", "flags"), _FOUND)
def test_what_an_expression_finds_passes(text: str, subject: str, flags: int) -> None:
    expression = re.compile(text, flags)
    assert expression.search(subject)
    assert Prefilter([expression]).passes(subject)


@pytest.mark.parametrize("number", range(len(_EXPRESSIONS)))
def test_every_expression_about_sentences_is_loosened_and_not_given_up(number: int) -> None:
    each = _EXPRESSIONS[number]
    assert loosened(each.pattern, each.flags)
    assert not Prefilter([each]).passes("~~~~")


@given(st.data())
def test_no_sentence_is_held_back_that_an_expression_matches(data: st.DataObject) -> None:
    expression = data.draw(st.sampled_from(_EXPRESSIONS))
    compiled = re.compile(expression.pattern, expression.flags)
    inner = data.draw(st.from_regex(compiled))
    text = data.draw(st.text(max_size=20)) + inner + data.draw(st.text(max_size=20))
    if compiled.search(text):
        assert Prefilter([expression]).passes(text)


def test_text_that_is_no_utf_8_passes() -> None:
    assert Prefilter([re.compile("x")]).passes("\ud800")
