"""``ovillo resume`` and ``ovillo handoff`` with the real clients, in a terminal: what their model is shown first."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from tests.clients.real import HERE, Machine, RealClient
from tests.clients.scripted_model import scripted_model
from tests.clients.terminal import terminal

pytestmark = [
    pytest.mark.skipif(not HERE, reason="no clients are installed: make clients"),
    pytest.mark.timeout(300),
]

ASKED = "Round the fees half up, as the bank does."
MORE = "and the taxes just so"
ANSWERED = "We decided to round half up in fees.py."
_PATIENCE_S = 90


@pytest.mark.requirement("CLI-61")
@pytest.mark.parametrize("client", HERE, ids=lambda client: client.name)
def test_the_command_that_resume_prints_goes_on_with_that_session(client: RealClient, tmp_path: Path) -> None:
    with scripted_model(answer=ANSWERED) as model:
        machine = Machine(tmp_path, client, model.port)
        machine.say(ASKED)
        session = machine.newest()
        command = machine.ovillo("resume", session, "--print").strip()
        saying = [each.replace("{prompt}", MORE) for each in client.saying]
        # From another folder than the session's.
        with terminal(f"{command} {shlex.join(saying)}", tmp_path, machine.environment) as shown:
            if not saying:
                assert shown.wait_for(ANSWERED, _PATIENCE_S), shown.drawn[-2000:]
                shown.type(MORE)
                assert shown.wait_for(MORE, _PATIENCE_S), shown.drawn[-2000:]
                shown.type("\r")
            told = model.wait_for(lambda said: MORE in said and ASKED in said and ANSWERED in said, _PATIENCE_S)
            assert told, shown.drawn[-2000:]
        # It is the same session that went on, and no new one.
        assert machine.newest() == session


@pytest.mark.requirement("CLI-63")
@pytest.mark.parametrize("client", HERE, ids=lambda client: client.name)
def test_handoff_starts_another_client_with_what_happened_in_its_first_request(
    client: RealClient, tmp_path: Path
) -> None:
    giver = HERE[HERE.index(client) - 1]
    with scripted_model(answer=ANSWERED) as model:
        machine, taker = Machine(tmp_path, giver, model.port), Machine(tmp_path, client, model.port)
        machine.say(ASKED)
        session = machine.newest()
        seen = len(model.all_requests)
        command = taker.ovillo("handoff", session, "--to", client.command, "--print").strip()
        with terminal(command, tmp_path, taker.environment) as shown:
            told = model.wait_for(lambda said: "the work of this earlier session" in said, _PATIENCE_S)
            assert told, shown.drawn[-2000:]
            assert session in told
            assert ASKED in told
            assert ANSWERED in told
        assert seen < len(model.all_requests)
