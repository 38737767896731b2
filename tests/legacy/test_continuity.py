"""Continuity Protocol folders, taken over by ``ovillo migrate continuity``."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from ovillo.model.records import SessionId
from ovillo.security.principals import LOCAL
from tests.interfaces.cli_runs import CommandLine
from tests.legacy.continuity_data import ONLY_IN_SPRINT, SESSION, TASKS, entry, make
from tests.legacy.migrating import line, opened, run

__all__ = ["line"]

NS = LOCAL.namespace


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path / "shop")


def ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


@pytest.mark.requirement("MIGRATE-5")
def test_sessions_come_with_name_times_and_versions_out_of_their_envelopes(root: Path, line: CommandLine) -> None:
    run(line, "continuity", root)
    with opened(line) as services:
        row = services.store.sessions.get(NS, SessionId(SESSION))
        assert row is not None
        assert row.session.title == "Ledger rewrite"
        assert row.session.created_at == ms("2025-05-14T09:12:01.000123")
        assert row.session.metadata["branch"] == "ledger"
        first, second = (services.snapshots.restore(NS, SessionId(SESSION), number) for number in (1, 2))
        assert first.content == {"notes": ["begin"], "open": 3}
        assert second.content == {"notes": ["begin", "más"], "open": 1}
        assert second.snapshot.saved_at == ms("2025-05-14T11:00:00.750000")
        assert row.session.metadata["migrated"]["versions"] == {"3": 2}


@pytest.mark.requirement("MIGRATE-5")
def test_contexts_come_by_their_real_keys_and_a_projects_apart(root: Path, line: CommandLine) -> None:
    report = run(line, "continuity", root)
    with opened(line) as services:
        store = services.store.contexts
        plan = store.get(NS, "default", "release/plan")
        assert plan is not None
        assert (plan.value, plan.stored_at) == ({"steps": [1, 2]}, ms("2025-05-14T09:30:00.000001"))
        plain, own = store.get(NS, "default", "limit"), store.get(NS, "shop/default", "limit")
        assert plain is not None
        assert own is not None
        assert (plain.value, own.value) == ({"value": 40}, {"n": 7})
    (over,) = report["left"]
    assert (over["name"], over["kind"]) == ("old/token", "context entry")
    assert "was over" in over["why"]


@pytest.mark.requirement("MIGRATE-5")
def test_tasks_come_with_their_times_also_those_only_a_sprint_knows(root: Path, line: CommandLine) -> None:
    run(line, "continuity", root)
    with opened(line) as services:
        done, running, forgotten = (services.timesheet.get(NS, each) for each in (*TASKS, ONLY_IN_SPRINT))
        assert (done.started_at, done.ended_at) == (ms("2025-05-14T12:00:00"), ms("2025-05-14T12:30:00"))
        assert (done.summary, done.files, done.context) == ("done", ("ledger.py",), "(sprint: sprint-1)")
        assert running.ended_at is None
        assert forgotten.context == "(sprint: sprint-1)"


@pytest.mark.requirement("MIGRATE-2")
def test_a_second_run_changes_nothing_even_after_work_went_on(root: Path, line: CommandLine) -> None:
    run(line, "continuity", root)
    assert line.run("time", "out", TASKS[1], "finished here").code == 0
    with opened(line) as services:
        services.contexts.store(NS, "me", "limit", {"value": 41}, context="default")
    report = run(line, "continuity", root)
    assert report["new"] == {}
    assert [each["name"] for each in report["left"]] == ["old/token"]
    with opened(line) as services:
        assert services.timesheet.get(NS, TASKS[1]).summary == "finished here"
        assert services.contexts.retrieve(NS, "me", "limit", context="default").entry.value == {"value": 41}


@pytest.mark.requirement("MIGRATE-3")
def test_what_cannot_be_kept_is_listed_and_costs_itself(root: Path, line: CommandLine) -> None:
    (root / "data" / "sessions" / SESSION / "version_1.json").unlink()
    (root / "data" / "llmops" / "timesheets" / "bad.json").write_text("[]")
    entry(root / "data" / "contexts", "default", "huge", {"text": "x" * 300_000}, hashed=True)
    report = run(line, "continuity", root)
    assert {each["file"].rpartition("/")[2] for each in report["unread"]} == {"version_1.json", "bad.json"}
    assert {each["name"] for each in report["left"]} == {"old/token", "default/huge"}
    with opened(line) as services:
        assert services.snapshots.restore(NS, SessionId(SESSION), 1).content["open"] == 1


@pytest.mark.requirement("MIGRATE-5")
def test_people_read_what_happened_and_what_did_not(root: Path, line: CommandLine) -> None:
    ran = line.run("migrate", "continuity", str(root))
    assert ran.code == 0
    said = ran.out.splitlines()
    assert "3 tasks read: 3 taken over, 0 here already." in said
    assert "4 context entries read: 3 taken over, 0 here already." in said
    assert any(each.startswith("  context entry old/token") for each in said)
