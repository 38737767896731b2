"""Each promise has a test, and each test marker names a promise."""

from __future__ import annotations

import re
from pathlib import Path

from tests.requirements import REQUIREMENTS

_MARK = re.compile(r"mark\.requirement\(\s*([^)]*)\)")


def _named() -> set[str]:
    found: set[str] = set()
    for path in Path(__file__).parent.rglob("*.py"):
        for arguments in _MARK.findall(path.read_text(encoding="utf-8")):
            found.update(re.findall(r"[\"']([A-Z]+-\d+)[\"']", arguments))
    return found


def test_every_promise_has_a_test() -> None:
    assert sorted(set(REQUIREMENTS) - _named()) == []


def test_every_marker_names_a_promise() -> None:
    assert sorted(_named() - set(REQUIREMENTS)) == []
