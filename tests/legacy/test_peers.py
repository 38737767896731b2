"""Databases that mcp-memory-service and claude-mem wrote themselves: counts, texts and times come over, and once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ovillo.model.memories import Memory, MemoryFilter
from ovillo.security.principals import LOCAL
from tests.builders import folder_state
from tests.interfaces.cli_runs import CommandLine
from tests.legacy.migrating import line, opened, run

__all__ = ["line"]

PEERS = Path(__file__).parents[1] / "fixtures" / "peers"


def laid_out(folder: Path, packed: str, name: str) -> Path:
    folder.mkdir()
    (folder / name).write_bytes(gzip.decompress((PEERS / packed).read_bytes()))
    return folder


def taken_over(line: CommandLine, system: str, folder: Path) -> list[Memory]:
    """Twice: a second run changes nothing, and neither changes a byte there."""
    before = folder_state(folder)
    first, second = run(line, system, folder), run(line, system, folder)
    assert folder_state(folder) == before
    assert (first["new"], second["new"]) == ({"memory": 3}, {})
    with opened(line) as services:
        return sorted(services.store.memories.find(LOCAL.namespace, MemoryFilter(), 50), key=lambda each: each.text)


@pytest.mark.requirement("MIGRATE-20")
def test_what_mcp_memory_service_wrote_comes_over_without_what_it_deleted(tmp_path: Path, line: CommandLine) -> None:
    root = laid_out(tmp_path / "peer", "mcp-memory-service-12.2.0.db.gz", "sqlite_vec.db")
    found = taken_over(line, "mcp-memory-service", root)
    assert {each.text: (each.kind, each.tags) for each in found} == {
        "The ledger listens on port 8080.": ("note", ("ledger",)),
        "We release on Tuesdays.": ("decision", ("release", "team")),
        "Él prefiere pruebas pequeñas — déjà vu ✓": ("observation", ("estilo",)),
    }
    assert {each.created_at // 1_000 for each in found} == {1_795_368_256}
    assert found[0].value["metadata"] == {"agent": "codex"}


@pytest.mark.requirement("MIGRATE-20")
def test_what_claude_mem_wrote_comes_over_with_its_facts_files_and_times(tmp_path: Path, line: CommandLine) -> None:
    root = laid_out(tmp_path / "peer", "claude-mem-13.25.3.db.gz", "claude-mem.db")
    found = taken_over(line, "claude-mem", root)
    assert {(each.kind, each.created_at) for each in found} == {
        ("bugfix", 1_795_000_000_000),
        ("decision", 1_795_000_001_000),
        ("summary", 1_795_000_002_000),
    }
    said = "\n".join(each.text for each in found)
    for text in ("rounded twice", "déjà vu ✓", "We release on Tuesdays.", "Next steps: A test."):
        assert text in said
    assert "src/ledger.py" in repr([each.value for each in found])


@pytest.mark.requirement("MIGRATE-20")
def test_people_are_told_in_whole_words(tmp_path: Path, line: CommandLine) -> None:
    root = laid_out(tmp_path / "peer", "claude-mem-13.25.3.db.gz", "claude-mem.db")
    assert "3 memories read: 3 taken over" in line.run("migrate", "claude-mem", str(root)).out
