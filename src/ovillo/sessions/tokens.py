"""Counting tokens, so that an answer fits the budget that was asked for.

Owns one rule: the real encoding (o200k) where its tables are loaded, never an estimate passed off as a count.
"""

from __future__ import annotations

from functools import cache
from typing import Any


@cache
def _encoding() -> Any:
    import bpe_openai  # start-up cost: 0.1 s of tables that only answers with a budget need

    return bpe_openai.get_encoding("o200k_base")


def count_tokens(text: str) -> int:
    return len(_encoding().encode_ordinary(text))


def cut_to_tokens(text: str, tokens: int) -> str:
    """``text`` if it fits, else its beginning and its end with a mark of what is missing between them."""
    if count_tokens(text) <= tokens:
        return text
    if tokens < 16:
        return "…"
    # A token is seldom shorter than two characters of prose; halving ends quickly.
    keep = min(len(text), tokens * 6)
    while keep > 8:
        head, tail = keep * 2 // 3, keep // 3
        cut = f"{text[:head].rstrip()} […{len(text) - head - tail:,} characters…] {text[len(text) - tail :].lstrip()}"
        if count_tokens(cut) <= tokens:
            return cut
        keep = keep * 4 // 5
    return "…"
