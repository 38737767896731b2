"""All real clients at once, on one home with one memory: each is told its own, and nothing of any of them is left."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.clients.attaching import BRIEF, SETTINGS, compact, digests, ours
from tests.clients.real import HERE, Machine
from tests.clients.scripted_model import ScriptedModel, scripted_model, shown_in

pytestmark = [
    pytest.mark.skipif(len(HERE) < 2, reason="no two clients are installed: make clients"),
    pytest.mark.timeout(900),
]


def work(machine: Machine, model: ScriptedModel) -> str:
    """A session with a compaction and a prompt after it; its id."""
    machine.say(f"Round the fees of {machine.client.name} half up, and remember why.")
    session = machine.newest()
    machine.say("and the taxes", session)
    compact(machine, model, session)
    machine.say("go on", session)
    return session


@pytest.mark.requirement("CLI-71")
@pytest.mark.requirement("CLI-65")
def test_clients_that_work_at_once_are_each_told_once_what_is_theirs(tmp_path: Path) -> None:
    with ExitStack() as stack:
        models = [stack.enter_context(scripted_model()) for _ in HERE]
        machines = [Machine(tmp_path, client, model.port) for client, model in zip(HERE, models, strict=True)]
        settings = tuple(name for client in HERE for name in SETTINGS[client.name])
        before = digests(tmp_path, settings)
        machines[0].ovillo("install", "--yes")
        with ThreadPoolExecutor(len(HERE)) as pool:
            sessions = list(pool.map(work, machines, models))
        assert len(set(sessions)) == len(HERE)
        for machine, model in zip(machines, models, strict=True):
            told = [shown for each in model.requests if BRIEF in (shown := shown_in(each))]
            assert told, machine.client.name
            assert {shown.count(BRIEF) for shown in told} == {1}
            brief = told[0][told[0].index(BRIEF) :]
            assert f"Round the fees of {machine.client.name} half up" in brief
            assert [each.name for each in HERE if f"fees of {each.name} half" in told[0]] == [machine.client.name]
        checks = json.loads(machines[0].ovillo("doctor", "--json", fails=True))["checks"]
        states = {each["client"]: each for each in checks if "client" in each}
        for machine, session in zip(machines, sessions, strict=True):
            assert states[machine.client.name]["lastSession"]["id"] == session
            assert states[machine.client.name]["hooksSeen"] is not None
        machines[0].ovillo("uninstall", "--yes")
    assert ours(tmp_path) == []
    assert digests(tmp_path, settings) == before
