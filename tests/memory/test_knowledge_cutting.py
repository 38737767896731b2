"""Cutting documents into chunks: what stays whole, how long chunks are, how they overlap."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovillo.memory.knowledge.chunking import ChunkingOptions, Kind, blocks_of, cut

_BLOCKS = {
    "heading": "## Section",
    "paragraph": "one two three four five six seven\neight nine ten",
    "list": "- first item here\n- second item here\n  goes on\n- third",
    "code": "```python\ndef f():\n\n    return 1\n```",
    "table": "| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |",
    "long": "\n".join(f"word{n} " * 9 for n in range(12)),
    "rule": "---",
}


def _count(text: str) -> int:
    return len(text.split())


@st.composite
def documents(draw: st.DrawFn) -> list[str]:
    blocks = draw(st.lists(st.sampled_from(sorted(_BLOCKS)), min_size=1, max_size=25))
    return "\n\n".join(_BLOCKS[block] for block in blocks).split("\n")


@pytest.mark.requirement("KNOW-2")
def test_blocks_of_markdown_are_told_apart() -> None:
    text = "---\nfront: matter\n---\n\nTitle\n=====\n\nWords here.\n\n" + "\n\n".join(
        _BLOCKS[name] for name in ("list", "code", "table")
    )
    kinds = [block.kind for block in blocks_of(text.split("\n"))]
    assert kinds == [Kind.CODE, Kind.HEADING, Kind.PARAGRAPH, Kind.LIST, Kind.CODE, Kind.TABLE]


@pytest.mark.requirement("KNOW-2")
@given(lines=documents())
@settings(max_examples=150, deadline=None)
def test_chunks_hold_every_line_in_order_and_no_block_in_two_pieces(lines: list[str]) -> None:
    cutting = ChunkingOptions(15, 45, 25)
    ranges = cut(lines, cutting, _count)
    held = {number for each in ranges for number in range(each.first, each.end)}
    assert all(number in held for number, line in enumerate(lines) if line.strip())
    assert [each.first for each in ranges] == sorted(each.first for each in ranges)
    assert all(each.tokens <= cutting.max_tokens for each in ranges)
    for block in blocks_of(lines):
        size = _count("\n".join(lines[block.first : block.end]))
        if block.kind in (Kind.LIST, Kind.CODE, Kind.TABLE) and size <= cutting.max_tokens:
            assert any(each.first <= block.first and block.end <= each.end for each in ranges)


@pytest.mark.requirement("KNOW-2")
def test_a_chunk_begins_with_the_end_of_the_one_before() -> None:
    lines = "\n\n".join(f"Paragraph {n} has seven words in it." for n in range(20)).split("\n")
    first, second, *_ = cut(lines, ChunkingOptions(15, 45, 25), _count)
    assert second.first < first.end
    overlap = _count("\n".join(lines[second.first : first.end]))
    assert 0 < overlap <= first.tokens // 4
    apart = cut(lines, ChunkingOptions(15, 45, 0), _count)
    assert all(later.first >= earlier.end for earlier, later in pairwise(apart))


@pytest.mark.requirement("KNOW-2")
@given(st.text(alphabet="#`-*|> \tab1.\n", max_size=300))
@settings(max_examples=200, deadline=None)
def test_any_text_is_cut_without_losing_a_line(text: str) -> None:
    lines = text.split("\n")
    held = {n for each in cut(lines, ChunkingOptions(5, 12, 25), _count) for n in range(each.first, each.end)}
    assert all(number in held for number, line in enumerate(lines) if line.strip())
