from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ovillo.search.seen_passages import SeenPassages
from ovillo.search.vectors import centred
from ovillo.store.forms import Rows, pack


def unit_rows(count: int, seed: int) -> Rows:
    return centred(np.random.default_rng(seed).normal(size=(count, 64)).astype(np.float32), None)


@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_of_a_passage_seen_before_the_store_keeps_what_it_kept_the_first_time(count: int, seed: int) -> None:
    rows = unit_rows(count, seed)
    keys = [bytes([at]) for at in range(count)]
    seen = SeenPassages()
    seen.add(keys, rows)
    assert pack(seen.rows(keys)) == pack(rows)


def test_the_passages_asked_for_longest_ago_are_forgotten_first() -> None:
    seen = SeenPassages(most=2)
    seen.add([b"a", b"b"], unit_rows(2, 1))
    seen.rows([b"a"])
    seen.add([b"c"], unit_rows(1, 2))
    seen.rows([b"c"])
    assert [key in seen for key in (b"a", b"b", b"c")] == [True, False, True]
