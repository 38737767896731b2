"""The line below Claude Code's prompt, as the command that is written into its settings."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.model.records import Author, Role, SessionId, SessionKind, Usage
from tests.builders import delta, message
from tests.builders import session as built
from tests.interfaces.opened import record, settings_for
from tests.interfaces.served import environment

ASKED = {"session_id": "ses_a", "model": {"id": "opus", "display_name": "Opus 5"}, "cost": {"total_cost_usd": 6.0}}


def said(home: Path, given: bytes, **changes: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ovillo", "statusline"],
        input=given,
        env={**environment(home), **changes},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.count(b"\n") == 1
    return done.stdout.decode().rstrip("\n")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Half a million tokens in this session just now, as many in its sub-agent, and as many in another session."""
    services = open_services(settings_for(tmp_path, data_dir=tmp_path / "data"))
    now = time.time_ns() // 1_000_000
    for name, fields in (
        ("ses_a", {}),
        ("ses_child", {"parent_id": SessionId("ses_a"), "kind": SessionKind.SUBAGENT}),
        ("ses_b", {}),
    ):
        paid: dict[str, Any] = {"model": "opus", "usage": Usage(500_000), "created_at": now, "author": Author.MODEL}
        answer = message("m1", 1, "ok", role=Role.ASSISTANT, of=name, **paid)
        record(services, delta(answer, about=built(name, source="claude_code", **fields)))
    services.close()
    (tmp_path / "prices.json").write_text(json.dumps({"opus": {"input": 5, "output": 25}}))
    return tmp_path


@pytest.mark.requirement("USAGE-9")
def test_it_says_what_the_session_today_and_the_block_cost(home: Path) -> None:
    line = said(home, json.dumps(ASKED).encode(), OVILLO_PRICES_FILE=str(home / "prices.json"))
    model, session, today, block = line.split(" · ")
    assert (model, session) == ("Opus 5", "session $6.00, 1.0M tokens")
    # By the list the session cost 5 dollars, and all 7.50; what Claude counts beyond that was not read yet.
    assert today == "today $8.50, 1.5M tokens"
    assert block.startswith("block $8.50 ")
    assert block.endswith(" min left")


@pytest.mark.requirement("USAGE-9")
def test_claudes_own_limits_say_when_the_block_ends(home: Path) -> None:
    limits = {"five_hour": {"used_percentage": 42.3, "resets_at": int(time.time()) + 7_230}}
    line = said(home, json.dumps({**ASKED, "rate_limits": limits}).encode())
    assert line.endswith("42 % used, 2 h 00 min left")


@pytest.mark.requirement("USAGE-9")
@pytest.mark.parametrize(
    "given", [b"", b"{", b"[]", b"\xff\xfe", b'{"model": 3, "cost": {"total_cost_usd": "much"}, "session_id": []}']
)
def test_nothing_that_it_is_told_makes_it_fail(home: Path, given: bytes) -> None:
    assert "today" in said(home, given)


@pytest.mark.requirement("USAGE-9")
@pytest.mark.parametrize("broken", ["nothing was read", "no database", "bad settings"])
def test_without_a_store_it_says_what_claude_said(tmp_path: Path, broken: str) -> None:
    changes = {}
    if broken == "no database":
        (tmp_path / "data").mkdir()
        (tmp_path / "data" / "ovillo.db").write_bytes(b"this is no database at all" * 1_000)
    if broken == "bad settings":
        changes["OVILLO_PORT"] = "many"
    assert said(tmp_path, json.dumps(ASKED).encode(), **changes) == "Opus 5 · session $6.00"
    assert broken != "nothing was read" or not (tmp_path / "data").exists()
