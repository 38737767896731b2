"""Sources and health in the browser: what was read, what could not be, and what mends it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ovillo.demo import demo_environment, unpack
from tests.interfaces.http.serving import process
from tests.interfaces.web.sites import page, text_of


@pytest.mark.requirement("WEB-64")
def test_what_could_not_be_read_is_told_with_its_reason_and_the_command(tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OVILLO_EMBEDDER": "none", "OVILLO_WATCH": "false"}
    home = unpack(tmp_path / "demo", 1_795_262_400_000)
    demo = demo_environment(environment, home, tmp_path / "data")
    log = next((home / ".claude" / "projects").rglob("*.jsonl"))
    log.write_text(log.read_text() + '{"type": "user", "torn": \n')
    subprocess.run([sys.executable, "-m", "ovillo", "scan"], env=demo, check=True, capture_output=True)
    with process(tmp_path, **demo) as (_, site):
        data = site.ask("GET", "/sources.json").json
        assert {each["reader"] for each in data["sources"]} == {"claude_code", "codex", "opencode"}
        (damaged,) = [each for each in data["sources"] if each["skipped"]]
        assert (damaged["reader"], damaged["status"]) == ("claude_code", "damaged")
        assert damaged["skipped"][0]["file"].endswith(log.name)
        assert damaged["skipped"][0]["reason"]
        assert sum(each["sessions"] for each in data["sources"]) == 7
        assert {each["name"]: each["done"] for each in data["progress"]}["masked"] > 0
        assert data["database_bytes"] > 0
        html = text_of(page(site, "/sources"))
        assert damaged["skipped"][0]["reason"] in html
        assert "ovillo doctor" in html


@pytest.mark.requirement("WEB-64")
def test_nothing_read_yet_says_what_to_do(tmp_path: Path) -> None:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "OVILLO_EMBEDDER": "none", "OVILLO_WATCH": "false"}
    with process(tmp_path, **environment, OVILLO_DATA_DIR=str(tmp_path / "data")) as (_, site):
        assert "ovillo scan" in text_of(page(site, "/sources"))
        assert site.ask("GET", "/sources.json").json["sources"] == []
