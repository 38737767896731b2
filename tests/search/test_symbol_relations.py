"""What is kept of a large folder's words once they have been compared with those of other languages."""

from __future__ import annotations

import tracemalloc
from itertools import product

from ovillo.search.lexicon import COLUMNS, whole_lexicon
from ovillo.search.symbols.tree import Relations

_SOUNDS = "ba", "ce", "di", "fo", "gu", "la", "me", "ni", "ro", "tu"
_WORDS = ["".join(parts) for parts in product(_SOUNDS, repeat=4)]


def test_words_of_other_languages_are_found_without_keeping_a_stem_of_each_word_twice() -> None:
    lexicon = whole_lexicon()
    raw = {word: word for word in (*_WORDS, "pagos", "pagar")}
    relations = Relations(raw, {word: number for number, word in enumerate(raw)}, lexicon)
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        found = {language: relations.foreign(language, lexicon.stem(language, "pago")) for language in COLUMNS[1:]}
        joined = relations.joined_with("name")
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(found["spanish"]) == ["pagos", "pagar"]
    assert not joined
    assert (after - before) / len(raw) < 650
