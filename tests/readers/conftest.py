"""Golden cases: small histories written by hand, and what their reader makes of them.

A case is ``tests/golden/<client>/<name>/`` with ``home/`` (or any folders), ``expected.json`` and, where the
reader needs one, ``env.json`` (``{case}`` stands for the case's folder). ``<file>.sql`` becomes the SQLite
database ``<file>``. ``pytest tests/readers --update-golden`` writes ``expected.json`` anew, to be reviewed as
a diff.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from ovillo.readers.protocol import Reader, Source
from tests.readers.harvest import Harvest, digest

GOLDEN = Path(__file__).parent.parent / "golden"
#: Modification time of every file of a case: 2026-11-21 18:05 UTC.
_WRITTEN = 1_795_284_300

# Fuzzing is the same at each run, and short; ``--hypothesis-profile=fuzz-deep`` is neither.
settings.register_profile("fuzz", derandomize=True, max_examples=40, deadline=None, database=None)
settings.register_profile("fuzz-deep", max_examples=1_500, deadline=None, print_blob=True)

#: Runs a case; returns what was found and the places it was found in.
Golden = Callable[[Reader, str], tuple[Harvest, list[Source]]]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden/*/*/expected.json anew")


@pytest.fixture
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Local time is UTC, for clients that write local times."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.fixture
def golden(request: pytest.FixtureRequest, tmp_path: Path, utc: None) -> Golden:
    """Reads a case in a copy, checks that no byte changed, and compares with (or writes) ``expected.json``."""

    def run(reader: Reader, case: str) -> tuple[Harvest, list[Source]]:
        folder = unpack(case, tmp_path / "case")
        before = digest(folder)
        found = Harvest()
        sources = sorted(reader.discover(environment(case, folder), folder / "home"), key=lambda p: p.precedence)
        for source in sources:
            for record in reader.scan(source, {}):
                found.take(record)
        assert digest(folder) == before
        shown = json.dumps(_shown(found), ensure_ascii=False, indent=1).replace(str(folder), "{case}") + "\n"
        # Aider's sessions are named after the path of their file, which is another one at each run.
        shown = re.sub(r"aider-[0-9a-f]{8}", "aider-{path}", shown)
        expected = GOLDEN / case / "expected.json"
        if request.config.getoption("--update-golden", default=False):
            expected.write_text(shown, encoding="utf-8")
        assert json.loads(shown) == json.loads(expected.read_text(encoding="utf-8"))
        return found, sources

    return run


def unpack(case: str, folder: Path) -> Path:
    """A copy of a case with its databases built and all times fixed."""
    shutil.copytree(GOLDEN / case, folder, ignore=shutil.ignore_patterns("expected.json", "env.json"))
    for script in sorted(folder.rglob("*.sql")):
        with closing(sqlite3.connect(script.with_suffix(""))) as database:
            database.executescript(script.read_text(encoding="utf-8"))
            database.commit()
        script.unlink()
    for path in folder.rglob("*"):
        os.utime(path, (_WRITTEN, _WRITTEN))
    return folder


def environment(case: str, folder: Path) -> dict[str, str]:
    path = GOLDEN / case / "env.json"
    if not path.exists():
        return {}
    values: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return {name: value.replace("{case}", str(folder)) for name, value in values.items()}


def _shown(found: Harvest) -> dict[str, Any]:
    return {
        "sessions": [
            {"session": _plain(one.session), "messages": [_plain(message) for message in one.messages]}
            for _, one in sorted(found.sessions.items())
        ],
        "skipped": [_plain(item) for item in found.skipped],
    }


def _plain(value: Any) -> Any:
    """Dataclasses as objects without what they leave at nothing, so that a diff shows what matters."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        shown = {f.name: _plain(getattr(value, f.name)) for f in fields(value)}
        return {name: item for name, item in shown.items() if item not in (None, "", [], {}, False)}
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
