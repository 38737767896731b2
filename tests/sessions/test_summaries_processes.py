"""Several processes summarise one session: who was slower goes by what the faster one kept."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.sessions.summarizers import SummaryRequest
from tests.interfaces.served import environment
from tests.sessions.test_summaries import OWN, Recorded


@pytest.fixture
def recorded(tmp_path: Path) -> Iterator[Recorded]:
    made = Recorded(tmp_path)
    yield made
    made.close()


def summarise_elsewhere(recorded: Recorded) -> dict[str, Any]:
    """By the command, in a process of its own."""
    home = recorded.settings.data_dir
    done = subprocess.run(
        [sys.executable, "-m", "ovillo", "session", "summarize", OWN, "--json"],
        env={**environment(home), "OVILLO_DATA_DIR": str(home)},
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


class Overtaken:
    """While it makes a summary, another process makes one."""

    name = "overtaken"

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self.asked = 0

    def summarize(self, request: SummaryRequest) -> str:
        self.asked += 1
        summarise_elsewhere(self._recorded)
        return "The summary that came too late."


@pytest.mark.requirement("MEMO-30")
def test_a_session_that_another_process_summarised_is_not_due_any_more(recorded: Recorded) -> None:
    recorded.append(51)
    service = recorded.service()
    assert service.due(NS, OWN)
    theirs = summarise_elsewhere(recorded)
    assert not service.due(NS, OWN)
    assert service.view(NS, OWN).long_term_summary == theirs["summary"]


@pytest.mark.requirement("MEMO-30")
def test_who_was_overtaken_takes_the_other_summary_and_asks_no_more(recorded: Recorded) -> None:
    recorded.append(60)
    late = Overtaken(recorded)
    service = recorded.service(lambda: late)
    assert service.due(NS, OWN)
    outcome = service.summarize(NS, OWN)
    [kept] = recorded.store.recording.summaries(NS, OWN)
    assert (outcome.summary, outcome.through_seq) == (kept.text, kept.through_seq)
    assert "too late" not in outcome.summary
    assert not service.due(NS, OWN)
    recorded.append(1)
    assert not service.due(NS, OWN)
    assert late.asked == 1


@pytest.mark.requirement("MEMO-30")
def test_what_waits_is_counted_from_the_summary_of_the_other_process(recorded: Recorded) -> None:
    recorded.append(400)
    service = recorded.service()
    assert service.view(NS, OWN).pending > 300
    summarise_elsewhere(recorded)
    assert service.view(NS, OWN).pending == 0
