"""For the session tests of the OpenAI Agents SDK itself: what they call ``SQLiteSession`` is kept in ovillo.

    PYTHONPATH=tests/adapters/sdk python -m pytest -p openai_plugin SDK/tests/memory

A session in memory gets a data folder of its own, one in a file a folder beside that file.
"""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path
from typing import Any

import agents
import agents.memory
import agents.memory.sqlite_session

from ovillo.adapters import opened
from ovillo.adapters.openai_agents import OvilloSession

_folders = Path(tempfile.mkdtemp(prefix="ovillo-agents-"))


@atexit.register
def _clean_up() -> None:
    opened.close()
    shutil.rmtree(_folders, ignore_errors=True)


class InPlace(OvilloSession):
    def __init__(
        self,
        session_id: str,
        db_path: str | Path = ":memory:",
        sessions_table: str = "agent_sessions",
        messages_table: str = "agent_messages",
        session_settings: Any = None,
    ) -> None:
        folder = tempfile.mkdtemp(dir=_folders) if str(db_path) == ":memory:" else f"{db_path}.ovillo"
        super().__init__(session_id, data_dir=folder, session_settings=session_settings)

    def close(self) -> None:
        opened.close()


for module in (agents, agents.memory, agents.memory.sqlite_session):
    module.SQLiteSession = InPlace
