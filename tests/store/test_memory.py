"""The memory store keeps the contract: nothing in it, or in its suites, needs SQLite."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from ovillo.store.protocol import Store
from tests.builders import WordAnalyzer
from tests.store.contract_audit import *  # noqa: F403
from tests.store.contract_changes import *  # noqa: F403
from tests.store.contract_classification import *  # noqa: F403
from tests.store.contract_code import *  # noqa: F403
from tests.store.contract_contexts import *  # noqa: F403
from tests.store.contract_entities import *  # noqa: F403
from tests.store.contract_forgetting import *  # noqa: F403
from tests.store.contract_health import *  # noqa: F403
from tests.store.contract_importing import *  # noqa: F403
from tests.store.contract_ingest import *  # noqa: F403
from tests.store.contract_keys import *  # noqa: F403
from tests.store.contract_knowledge import *  # noqa: F403
from tests.store.contract_leases import *  # noqa: F403
from tests.store.contract_links import *  # noqa: F403
from tests.store.contract_locations import *  # noqa: F403
from tests.store.contract_maintenance import *  # noqa: F403
from tests.store.contract_masking import *  # noqa: F403
from tests.store.contract_memories import *  # noqa: F403
from tests.store.contract_memory_vectors import *  # noqa: F403
from tests.store.contract_overview import *  # noqa: F403
from tests.store.contract_program_state import *  # noqa: F403
from tests.store.contract_recording import *  # noqa: F403
from tests.store.contract_secrets import *  # noqa: F403
from tests.store.contract_sessions import *  # noqa: F403
from tests.store.contract_snapshots import *  # noqa: F403
from tests.store.contract_sources import *  # noqa: F403
from tests.store.contract_text import *  # noqa: F403
from tests.store.contract_timesheet import *  # noqa: F403
from tests.store.contract_usage import *  # noqa: F403
from tests.store.contract_vectors import *  # noqa: F403
from tests.store.memory.store import MemoryStore


@pytest.fixture
def store() -> Iterator[Store]:
    opened = MemoryStore(WordAnalyzer())
    yield opened
    opened.close()


_WITHOUT_SQLITE = """
import sys
sys.modules["apsw"] = sys.modules["sqlite3"] = sys.modules["ovillo.store.sqlite"] = None
from tests.builders import WordAnalyzer
from tests.store.memory.store import MemoryStore
store = MemoryStore(WordAnalyzer())
for name in vars(MemoryStore):
    getattr(store, name)
"""


@pytest.mark.requirement("STORE-45")
def test_a_store_can_be_written_without_sqlite() -> None:
    subprocess.run([sys.executable, "-c", _WITHOUT_SQLITE], check=True, timeout=60)


#: Tests of services that neither look into files nor start other processes.
_SERVICES = (
    "tests/sessions/test_recording.py",
    "tests/sessions/test_links.py",
    "tests/entities/test_service.py",
    "tests/ingest/test_apart.py",
    "tests/references/test_of_session.py",
    "tests/search/test_service.py",
)


@pytest.mark.requirement("STORE-46")
def test_services_need_nothing_of_sqlite() -> None:
    """A store whose ids say nothing of order and whose numbers have gaps is as good to them."""
    options = ["-q", "-x", "-p", "no:cacheprovider", "-p", "tests.store.memory.plugin"]
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *_SERVICES], check=False, capture_output=True, text=True
    )
    assert run.returncode == 0, run.stdout[-4_000:]
