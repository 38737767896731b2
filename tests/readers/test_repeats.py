"""Append-only files of every client that were appended to themselves: nothing is said, called or paid twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.readers.copilot_cli import CopilotCliReader
from ovillo.readers.goose import GooseReader
from ovillo.readers.pi import PiReader
from ovillo.readers.protocol import Reader
from tests.readers.conftest import environment, unpack
from tests.readers.harvest import Harvest, harvest_home

CASES = [
    (PiReader(), "pi/branches"),
    (CopilotCliReader(), "copilot_cli/both-layouts"),
    (GooseReader(), "goose/both-stores"),
]


@pytest.mark.requirement("READ-158")
@pytest.mark.parametrize(("reader", "case"), CASES, ids=[case for _, case in CASES])
def test_a_file_appended_to_itself_is_what_it_was(reader: Reader, case: str, tmp_path: Path) -> None:
    once, twice = unpack(case, tmp_path / "one" / "case"), unpack(case, tmp_path / "two" / "case")
    for path in twice.rglob("*.jsonl"):
        path.write_bytes(path.read_bytes() * 2)
    known = told(harvest_home(reader, once / "home", environment(case, once)))
    assert told(harvest_home(reader, twice / "home", environment(case, twice))) == known
    assert known


def told(found: Harvest) -> dict[str, list[object]]:
    return {
        name: [(m.id, m.role, m.usage, [(p.text, p.tool) for p in m.parts]) for m in one.messages]
        for name, one in found.sessions.items()
    }
