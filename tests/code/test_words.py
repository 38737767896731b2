"""Identifiers of a large folder are not kept once they have been split."""

from __future__ import annotations

import tracemalloc

from ovillo.code.words import name_terms


def test_splitting_the_names_of_a_large_folder_keeps_little() -> None:
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        for number in range(30_000):
            name_terms(f"parse_header_{number % 100}_of_{number // 100}")
        after, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < 10_000_000
