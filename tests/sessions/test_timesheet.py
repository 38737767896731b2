"""The timesheet with held clocks, real folders and real repositories."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from ovillo.model.errors import Conflict, InvalidInput, LimitExceeded, NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import SessionId
from ovillo.security.redaction import Redactor
from ovillo.sessions.timesheet import TaskLocation, Timesheet
from ovillo.store.engine import open_store
from ovillo.store.protocol import Store
from tests.builders import NOON, WordAnalyzer

HOUR = 3_600_000
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


@dataclass
class Clocks:
    """Both clocks of the process; ``pass_`` moves them together."""

    wall: int = NOON
    steady: float = 100.0

    def pass_(self, ms: int) -> None:
        self.wall += ms
        self.steady += ms / 1000


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "data" / "ovillo.db", WordAnalyzer())
    yield opened
    opened.close()


@pytest.fixture
def new_process(store: Store, clocks: Clocks) -> Callable[[], Timesheet]:
    return lambda: Timesheet(store.timesheet, Redactor(b"k" * 32, "off"), lambda: clocks.wall, lambda: clocks.steady)


@pytest.fixture
def sheet(new_process: Callable[[], Timesheet]) -> Timesheet:
    return new_process()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def write(path: Path, text: str, at_ms: int | None = None) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    if at_ms is not None:
        os.utime(path, ns=(at_ms * 1_000_000, at_ms * 1_000_000))


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=T", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, env=environment)


@pytest.mark.requirement("TIME-1")
def test_a_task_is_punched_in_and_out_with_its_duration(sheet: Timesheet, clocks: Clocks) -> None:
    task = sheet.punch_in(NS, " claude ", "fix the parser", "sprint 4", TaskLocation(SessionId("ses_a"), "shop", None))
    assert (task.llm_name, task.context, task.session_id, task.started_at) == ("claude", "sprint 4", "ses_a", NOON)
    assert [x.id for x in sheet.open_tasks(NS)] == [task.id]
    clocks.pass_(90_500)
    done = sheet.punch_out(NS, task.id, "fixed", detect_files=False)
    assert (done.duration_s, done.task.ended_at, done.task.warnings) == (90.5, NOON + 90_500, ())
    assert sheet.open_tasks(NS) == []
    assert sheet.get(NS, task.id) == done.task


@pytest.mark.requirement("TIME-1")
def test_empty_and_endless_texts_are_refused(sheet: Timesheet) -> None:
    for name, description in (("", "x"), ("claude", "  ")):
        with pytest.raises(InvalidInput, match="empty"):
            sheet.punch_in(NS, name, description)
    with pytest.raises(LimitExceeded):
        sheet.punch_in(NS, "claude", "x" * 20_001)


@pytest.mark.requirement("TIME-2")
def test_a_second_punch_out_says_what_was_recorded_and_changes_nothing(sheet: Timesheet, clocks: Clocks) -> None:
    task = sheet.punch_in(NS, "claude", "fix")
    clocks.pass_(60_000)
    done = sheet.punch_out(NS, task.id, "first summary")
    clocks.pass_(60_000)
    with pytest.raises(Conflict, match=r"60 s.*first summary"):
        sheet.punch_out(NS, task.id, "second")
    assert sheet.get(NS, task.id) == done.task


@pytest.mark.requirement("TIME-3")
def test_an_unknown_task_is_answered_with_near_ones(sheet: Timesheet) -> None:
    with pytest.raises(NotFound, match="punch in first"):
        sheet.punch_out(NS, "task_nope", "x")
    task = sheet.punch_in(NS, "claude", "fix")
    with pytest.raises(NotFound, match=task.id):
        sheet.punch_out(NS, task.id[:-1], "x")
    with pytest.raises(NotFound, match=task.id):
        sheet.punch_out(NS, "something else", "x")


@pytest.mark.requirement("TIME-4")
def test_a_clock_set_back_does_not_touch_the_duration_within_one_process(sheet: Timesheet, clocks: Clocks) -> None:
    task = sheet.punch_in(NS, "claude", "fix")
    clocks.pass_(30_000)
    clocks.wall -= 10 * HOUR
    done = sheet.punch_out(NS, task.id, "done", detect_files=False)
    assert done.duration_s == 30
    assert done.task.ended_at == NOON + 30_000
    assert "back" in done.task.warnings[0]


@pytest.mark.requirement("TIME-4")
def test_a_clock_set_back_between_processes_gives_nothing_and_a_warning(
    new_process: Callable[[], Timesheet], clocks: Clocks
) -> None:
    task = new_process().punch_in(NS, "claude", "fix")
    clocks.wall -= HOUR
    done = new_process().punch_out(NS, task.id, "done", detect_files=False)
    assert (done.duration_s, done.task.ended_at) == (0, NOON)
    assert "clock went back" in done.task.warnings[0]


@pytest.mark.requirement("TIME-5")
@needs_git
def test_git_tells_what_changed_since_the_start_and_nothing_else(sheet: Timesheet, folder: Path) -> None:
    git(folder, "init", "-q")
    for name in ("kept.py", "edited.py", "removed.py", "dirty.py", "dirty_then_more.py", "dirty_then_committed.py"):
        write(folder / name, "1")
    write(folder / ".gitignore", "*.log\n")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "start")
    for name in ("dirty.py", "dirty_then_more.py", "dirty_then_committed.py", "untracked_before.py"):
        write(folder / name, "2")
    (folder / "sub").mkdir()
    task = sheet.punch_in(NS, "claude", "fix", place=TaskLocation(directory=str(folder / "sub")))
    write(folder / "edited.py", "22")
    write(folder / "dirty_then_more.py", "333")
    write(folder / "sub" / "año nuevo.py", "4")
    write(folder / "noise.log", "5")
    write(folder / "committed.py", "6")
    (folder / "removed.py").unlink()
    git(folder, "add", "committed.py", "dirty_then_committed.py")
    git(folder, "commit", "-qm", "more")
    done = sheet.punch_out(NS, task.id, "done")
    assert done.task.detected_by == "git"
    assert done.task.files == ("committed.py", "dirty_then_more.py", "edited.py", "removed.py", "sub/año nuevo.py")
    assert done.task.warnings == ()


@pytest.mark.requirement("TIME-5")
@needs_git
def test_a_repository_without_a_commit_and_one_that_lost_its_start_are_looked_at(
    sheet: Timesheet, folder: Path
) -> None:
    git(folder, "init", "-q")
    write(folder / "before.py", "1")
    task = sheet.punch_in(NS, "claude", "begin", place=TaskLocation(directory=str(folder)))
    write(folder / "first.py", "1")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "first")
    assert sheet.punch_out(NS, task.id, "done").task.files == ("first.py",)
    task = sheet.punch_in(NS, "claude", "go on", place=TaskLocation(directory=str(folder)))
    shutil.rmtree(folder / ".git")
    git(folder, "init", "-q")
    write(folder / "first.py", "22")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "other history")
    write(folder / "second.py", "1")
    done = sheet.punch_out(NS, task.id, "done")
    assert done.task.files == ("second.py",)
    assert "commit of the start is gone" in done.task.warnings[0]


@pytest.mark.requirement("TIME-6")
def test_without_git_modification_times_tell_and_folders_of_tools_are_left_out(
    sheet: Timesheet, folder: Path, clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder / "no-such-place"))
    write(folder / "old.py", "1", NOON - HOUR)
    write(folder / "just_before.py", "1", NOON - 1)
    task = sheet.punch_in(NS, "claude", "fix", place=TaskLocation(directory=str(folder)))
    clocks.pass_(HOUR)
    write(folder / "new.py", "1", NOON + 1_000)
    write(folder / "deep" / "er" / "changed.py", "1", NOON + 2_000)
    for name in ("node_modules/x.js", ".git/index", "venv/bin/python", "__pycache__/x.pyc"):
        write(folder / name, "1", NOON + 3_000)
    done = sheet.punch_out(NS, task.id, "done")
    assert (done.task.detected_by, done.task.files) == ("mtime", ("deep/er/changed.py", "new.py"))


@pytest.mark.requirement("TIME-6")
def test_a_folder_that_is_gone_or_unknown_costs_a_warning_only(sheet: Timesheet, folder: Path) -> None:
    task = sheet.punch_in(NS, "claude", "fix", place=TaskLocation(directory=str(folder)))
    folder.rmdir()
    done = sheet.punch_out(NS, task.id, "done")
    assert done.task.files == ()
    assert "gone" in done.task.warnings[0]
    nowhere = sheet.punch_in(NS, "claude", "fix")
    assert "no folder" in sheet.punch_out(NS, nowhere.id, "done").task.warnings[0]


@pytest.mark.requirement("TIME-6")
@pytest.mark.parametrize("name", ["/" + "a" * 300, "/a\x00b", "tests", ".", "~", "/dev/null", " ", "/" + "a/" * 2_000])
def test_a_folder_that_cannot_be_one_is_not_looked_at(sheet: Timesheet, name: str) -> None:
    """What a session calls its folder may be any text; one that is relative would mean a folder of the server's."""
    task = sheet.punch_in(NS, "claude", "fix", place=TaskLocation(directory=name))
    done = sheet.punch_out(NS, task.id, "done")
    assert (done.task.files, done.task.detected_by) == ((), None)
    assert "no folder" in done.task.warnings[0]


@pytest.mark.requirement("TIME-7")
def test_the_report_adds_up_per_day_agent_and_project_and_splits_at_midnight(sheet: Timesheet, clocks: Clocks) -> None:
    zone = timezone(timedelta(hours=-3))
    clocks.wall = NOON + 14 * HOUR  # 23:00 in that zone on the 21st
    late = sheet.punch_in(NS, "claude", "late work", place=TaskLocation(None, "shop", None))
    clocks.pass_(3 * HOUR)
    sheet.punch_out(NS, late.id, "done", detect_files=False)
    other = sheet.punch_in(NS, "codex", "review", place=TaskLocation(None, "shop", None))
    clocks.pass_(HOUR)
    sheet.punch_out(NS, other.id, "done", detect_files=False)
    sheet.punch_in(NS, "codex", "still running", place=TaskLocation(None, "blog", None))
    clocks.pass_(HOUR // 2)
    report = sheet.report(NS, zone=zone)
    rows = [(x.day, x.agent, x.project, x.duration_ms // 60_000, x.tasks, x.open_tasks) for x in report.rows]
    assert rows == [
        ("2026-11-21", "claude", "shop", 60, 1, 0),
        ("2026-11-22", "claude", "shop", 120, 1, 0),
        ("2026-11-22", "codex", "blog", 30, 1, 1),
        ("2026-11-22", "codex", "shop", 60, 1, 0),
    ]
    assert report.total_ms == 270 * 60_000
    by_agent = [(x.agent, x.day, x.duration_ms // HOUR) for x in sheet.report(NS, by=("agent",), zone=zone).rows]
    assert by_agent == [("claude", None, 3), ("codex", None, 1)]
    cut = sheet.report(NS, after=NOON + 16 * HOUR, before=NOON + 17 * HOUR, by=("day",), zone=zone)
    assert [(x.day, x.duration_ms) for x in cut.rows] == [("2026-11-22", HOUR)]


@pytest.mark.requirement("TIME-7")
def test_days_with_a_changed_clock_have_the_hours_they_had(sheet: Timesheet, clocks: Clocks) -> None:
    zone = ZoneInfo("Europe/Madrid")
    clocks.wall = 1_792_792_800_000  # 2026-10-24 00:00 in Madrid; the 25th has 25 hours
    task = sheet.punch_in(NS, "claude", "long")
    clocks.pass_(60 * HOUR)
    sheet.punch_out(NS, task.id, "done", detect_files=False)
    rows = sheet.report(NS, by=("day",), zone=zone).rows
    assert [(x.day, x.duration_ms // HOUR) for x in rows] == [
        ("2026-10-24", 24),
        ("2026-10-25", 25),
        ("2026-10-26", 11),
    ]
