"""Any damage to any history file: reading never raises, never hangs, and costs the damaged session only.

Each case takes a real home (or a golden one), damages one file, reads everything, and compares the sessions
that do not depend on that file with what was read before. ``--hypothesis-profile=fuzz-deep`` looks harder.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.model.records import Inventory, SessionDelta, SkippedRecord
from ovillo.readers import reader_named
from ovillo.readers.protocol import Checkpoint, Progress, Reader
from tests.conftest import FIXTURES
from tests.readers.conftest import environment, unpack
from tests.readers.harvest import Found, Harvest
from tests.readers.mutations import MUTATIONS, mutate, mutate_rows

#: Reader, case of ``tests/golden`` or folder of ``tests/fixtures``.
CASES = (
    ("gemini_cli", "fixtures:gemini-cli"),
    ("gemini_cli", "fixtures:gemini-cli/older-version"),
    ("claude_code", "fixtures:claude-code"),
    ("codex", "fixtures:codex"),
    ("codex", "fixtures:codex/older-version"),
    ("opencode", "fixtures:opencode-json"),
    ("opencode", "fixtures:opencode-sqlite"),
    ("aider", "aider/two-chats"),
    ("goose", "goose/both-stores"),
    ("crush", "crush/project"),
    ("pi", "pi/branches"),
    ("copilot_cli", "copilot_cli/both-layouts"),
    ("cline", "cline/three-variants"),
)
_RECORDS = (SessionDelta, SkippedRecord, Checkpoint, Progress, Inventory)
_DEEP = settings.get_current_profile_name() == "fuzz-deep"
_PROFILE = settings.get_profile("fuzz-deep" if _DEEP else "fuzz")
#: Larger files make examples slow and add no new shape.
_MAX_FILE_BYTES = 2_000_000


@dataclass
class Home:
    """A copy of a home, what is read from it undamaged, and which sessions each file bears on."""

    reader: Reader
    folder: Path
    env: dict[str, str]
    known: Harvest = field(default_factory=Harvest)
    _bearing: dict[Path, frozenset[str]] = field(default_factory=dict)

    @property
    def files(self) -> list[Path]:
        found = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return [path for path in found if path.stat().st_size <= _MAX_FILE_BYTES and path.suffix != ".md"] or found

    def read(self) -> Harvest:
        """Everything, with what no reading may do checked on the way."""
        found = Harvest()
        limit = 10_000 + 50 * len(self.known.records)
        for place in sorted(self.reader.discover(self.env, self.folder / "home"), key=lambda p: p.precedence):
            cursor: dict[str, object] = {}
            for record in self.reader.scan(place, {}):
                assert isinstance(record, _RECORDS)
                found.take(record)
                if isinstance(record, Checkpoint):
                    cursor.update(record.cursor)
                assert len(found.records) < limit, "reading does not end"
            kept = {key: value for key, value in cursor.items() if value is not None}
            again = [x for x in self.reader.scan(place, kept) if isinstance(x, SessionDelta)]
            assert len(again) <= len(found.records)
        return found

    def bearing(self, file: Path) -> frozenset[str]:
        """Sessions that read differently without the file, or that it names."""
        if file not in self._bearing:
            data = file.read_bytes()
            file.unlink()
            try:
                without = self.read()
            finally:
                file.write_bytes(data)
            named = data + bytes(file)
            self._bearing[file] = frozenset(
                session_id
                for session_id, one in self.known.sessions.items()
                if _difference(one, without, session_id) or session_id.encode() in named
            )
        return self._bearing[file]


def _difference(one: Found, other: Harvest, session_id: str) -> str:
    """What is not as it was, for people; empty when all is."""
    found = other.sessions.get(session_id)
    if found is None:
        return "it is gone"
    changed = [f.name for f in fields(one.session) if getattr(one.session, f.name) != getattr(found.session, f.name)]
    changed += [key for key in one.by_id.keys() | found.by_id.keys() if one.by_id.get(key) != found.by_id.get(key)]
    return ", ".join(changed)


@cache
def _scratch() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="ovillo-fuzz-")


@cache
def home_of(name: str, case: str) -> Home:
    folder = Path(_scratch().name) / f"{name}-{case.replace('/', '-').replace(':', '-')}"
    if case.startswith("fixtures:"):
        shutil.copytree(FIXTURES / case.removeprefix("fixtures:") / "home", folder / "home", symlinks=True)
        home = Home(reader_named(name), folder, {})
    else:
        unpack(case, folder)
        home = Home(reader_named(name), folder, environment(case, folder))
    home.known = home.read()
    assert home.known.sessions, "an undamaged home has sessions"
    return home


@pytest.fixture(scope="module", autouse=True)
def _clean_up() -> Iterator[None]:
    yield
    home_of.cache_clear()
    _scratch().cleanup()
    _scratch.cache_clear()


@pytest.mark.requirement("READ-140")
@pytest.mark.parametrize(("name", "case"), CASES, ids=[f"{name}-{case.rpartition('/')[2]}" for name, case in CASES])
@settings(parent=_PROFILE, suppress_health_check=list(HealthCheck))
@given(
    which=st.integers(0, 10_000),
    kinds=st.lists(st.sampled_from(list(MUTATIONS)), min_size=1, max_size=3),
    seed=st.integers(0, 2**20),
)
def test_damage_never_raises_never_hangs_and_costs_no_other_session(
    name: str, case: str, which: int, kinds: list[str], seed: int
) -> None:
    home = home_of(name, case)
    files = home.files
    file = files[which % len(files)]
    names_before = sorted(home.folder.rglob("*"))
    bearing = home.bearing(file)
    # A database takes its companions with it when it is written to.
    kept = {path: path.read_bytes() for path in file.parent.iterdir() if path.is_file()}
    try:
        if kept[file].startswith(b"SQLite format 3") and seed % 2:
            mutate_rows(file, seed)
        else:
            file.write_bytes(mutate(kept[file], kinds, seed))
        names_damaged = sorted(home.folder.rglob("*"))
        damaged = home.read()
        assert sorted(home.folder.rglob("*")) == names_damaged, "reading leaves no file behind"
    finally:
        for path, data in kept.items():
            path.write_bytes(data)
    assert sorted(home.folder.rglob("*")) == names_before
    for session_id, one in home.known.sessions.items():
        if session_id not in bearing:
            changed = _difference(one, damaged, session_id)
            assert not changed, f"{session_id} changed by damage to {file}: {changed}"
