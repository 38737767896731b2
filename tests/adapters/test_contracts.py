"""What the SDKs themselves ask of a store of theirs, run on the adapters with the real SDKs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.adapters.environment import ROOT, SDK_TESTS, needs_sdks, run

OWN = ROOT / "tests" / "adapters" / "sdk"
_PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider")


@needs_sdks
@pytest.mark.timeout(300)
@pytest.mark.requirement("ADAPT-1")
def test_the_session_tests_of_the_openai_agents_sdk_pass(tmp_path: Path) -> None:
    chosen = [*sorted(SDK_TESTS.glob("tests/memory/test_session*.py")), *sorted(SDK_TESTS.glob("tests/test_hitl*.py"))]
    command = (*_PYTEST, "-p", "openai_plugin", *chosen, "tests/deferred_session_writes")
    # Those named so look into the tables of that very class.
    done = run(
        tmp_path, *command, "-k", "not test_sqlite_session", cwd=SDK_TESTS, given={"PYTHONPATH": str(OWN)}, timeout=280
    )
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
    told = re.search(r"(\d+) passed", done.stdout)
    assert told is not None
    assert int(told[1]) >= 340


@needs_sdks
@pytest.mark.timeout(300)
@pytest.mark.requirement("ADAPT-1")
@pytest.mark.parametrize("suite", sorted(path.name for path in OWN.glob("*_contract.py")))
def test_the_contracts_of_the_other_sdks_and_what_their_users_would_miss_else_hold(suite: str, tmp_path: Path) -> None:
    command = (*_PYTEST, "--noconftest", "-c", OWN / "pytest.ini", OWN / suite)
    done = run(tmp_path, *command, given={"PYTHONPATH": str(ROOT)}, timeout=280)
    assert done.returncode == 0, done.stdout[-5_000:] + done.stderr[-2_000:]
