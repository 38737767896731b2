"""Where the words of a question stand in a text: the same in long and short texts, whatever signs stand around them."""

from __future__ import annotations

import pytest

from ovillo.search.evidence import find_occurrences
from ovillo.search.query_terms import QueryTerm
from ovillo.store.protocol import Term

LIMITER = "the rate_limiter, RateLimiter and 12 limiters – “limiter” … limiter’s ✓ unlimited"


def asked(*words: str) -> list[QueryTerm]:
    return [QueryTerm(word, (word,), Term(word), (1,)) for word in words]


@pytest.mark.parametrize("around", ["", "lorem ipsum dolor " * 40, "dónde está el límite " * 40, "— … ✓ " * 80])
def test_words_are_found_at_the_same_places_in_texts_of_any_length_and_signs(around: str) -> None:
    short = [(each.start, each.end) for each in find_occurrences(LIMITER, asked("limit"))]
    assert short
    found = find_occurrences(f"{around}{LIMITER}", asked("limit"))
    behind = [(each.start - len(around), each.end - len(around)) for each in found if each.start >= len(around)]
    assert behind == short


def test_a_word_means_what_it_means_to_the_question_that_asks() -> None:
    text = "limiter and bucket"
    assert [each.query_term for each in find_occurrences(text, asked("limit", "bucket"))] == [0, 1]
    assert [each.query_term for each in find_occurrences(text, asked("bucket", "limit"))] == [1, 0]
