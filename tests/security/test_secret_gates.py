"""The gates before the rules for secrets only save time: with them and without them the same is found."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovillo.security.redaction import spans_of
from ovillo.security.secret_rules import FAMILIES, RULES
from ovillo.security.secret_search import expression, search
from tests.security.rule_texts import text_for, windows_without_gates
from tests.security.sample import negatives, positives

_LINES = [
    "",
    "def main():",
    "    return value",
    "the tests pass now",
    '  "name": "x",',
    "export PATH=/usr/bin",
    "\\",
    "key: value",
]


def same(text: str) -> bool:
    data = text.encode("utf-8", "surrogatepass")
    return spans_of(data, search().windows(data)) == spans_of(data, windows_without_gates(data))


def among_lines(text: str, draw: random.Random) -> str:
    """``text`` far inside a longer one, so that no window holds all of it."""
    around = ["\n".join(draw.choice(_LINES) for _ in range(draw.choice([0, 60, 200]))) for _ in range(2)]
    return f"{around[0]}\n{text}\n{around[1]}"


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize("number", range(len(RULES)), ids=lambda n: f"{n}-{RULES[n].kind}")
def test_the_gate_of_a_rule_lets_every_text_of_the_rule_through(number: int) -> None:
    rule, draw = RULES[number], random.Random(number)
    gate = next(family.gate for families in FAMILIES for family in families if rule in family.rules)
    texts = [text_for(rule.pattern, draw) for _ in range(300)]
    matched = [text for text in texts if expression(rule.pattern).search(text)]
    assert matched
    assert [text for text in matched if gate is not None and not expression(gate).search(text)] == []


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize("number", range(len(RULES)), ids=lambda n: f"{n}-{RULES[n].kind}")
def test_what_a_rule_finds_in_a_long_text_is_found_around_its_gate(number: int) -> None:
    rule, draw = RULES[number], random.Random(1000 + number)
    for _ in range(4):
        text = among_lines(text_for(rule.pattern, draw), draw)
        data = text.encode()
        found = {index for window in search().windows(data) for index in window.rules}
        wanted = {index for window in windows_without_gates(data) for index in window.rules}
        assert found == wanted, text
        assert same(text), text


@pytest.mark.requirement("SEC-1")
@pytest.mark.parametrize("seed", [5, 6])
def test_samples_are_masked_the_same_with_gates_and_without(seed: int) -> None:
    draw = random.Random(seed)
    texts = [text for _, text, _ in positives(seed)] + [text for _, text in negatives(seed)]
    draw.shuffle(texts)
    assert [text for text in texts[:250] if not same(among_lines(text, draw))] == []


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [*_LINES, "password:", "token =", "Gato#2024x", "sk-", "-p", "curl -u bob:", "AKIA", "'", '"', "="]
        )
        | st.text(max_size=12)
    )
)
def test_any_text_is_read_the_same_with_gates_and_without(words: list[str]) -> None:
    for joint in (" ", "\n", ""):
        assert same(joint.join(words) * 3)
