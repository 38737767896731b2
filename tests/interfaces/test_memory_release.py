"""What a large answer took is given back to the system, also when several come at once."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from ovillo.interfaces import memory_release


def test_the_last_of_several_large_answers_is_given_back_too(monkeypatch: pytest.MonkeyPatch) -> None:
    trimmed: list[float] = []
    libc = SimpleNamespace(malloc_trim=lambda _pad: trimmed.append(time.monotonic()))
    monkeypatch.setattr(memory_release, "_glibc", lambda: libc)
    monkeypatch.setattr(memory_release, "_REST_S", 0.2)
    monkeypatch.setattr(memory_release, "_last", time.monotonic() - 1)
    for _ in range(5):
        memory_release.give_back()
    last_answer = time.monotonic()
    assert len(trimmed) == 1
    give_up = last_answer + 5
    while len(trimmed) < 2 and time.monotonic() < give_up:
        time.sleep(0.01)
    time.sleep(0.3)
    assert len(trimmed) == 2, "one more, after the last of them, and not one for each"
    assert trimmed[1] > last_answer
