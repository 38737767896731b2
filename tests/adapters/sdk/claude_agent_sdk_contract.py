"""The contracts of the Claude Agent SDK on the session store. Runs where the SDK is (``make adapters``)."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from pathlib import Path

import pytest
from claude_agent_sdk import (
    delete_session_via_store,
    get_session_messages_from_store,
    list_sessions_from_store,
    rename_session_via_store,
)
from claude_agent_sdk.testing import run_session_store_conformance

from ovillo.adapters import opened
from ovillo.adapters.claude_agent_sdk import OvilloSessionStore

MAIN = str(uuid.uuid4())


@pytest.fixture(autouse=True)
def closed():
    yield
    opened.close()


def said(number: int, role: str, text: str) -> dict[str, object]:
    message: dict[str, object] = {"role": role, "content": text}
    if role == "assistant":
        message = {
            "id": f"msg_{number}",
            "model": "claude-x",
            "role": role,
            "content": [{"type": "text", "text": text}],
        }
    return {
        "type": role,
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "sessionId": MAIN,
        "timestamp": f"2026-11-20T10:0{number}:00.000Z",
        "cwd": "/srv/shop",
        "isSidechain": False,
        "userType": "external",
        "message": message,
    }


def test_the_fourteen_contracts_hold_with_all_optional_methods(tmp_path: Path) -> None:
    number = itertools.count()
    asyncio.run(run_session_store_conformance(lambda: OvilloSessionStore(data_dir=tmp_path / str(next(number)))))
    optional = ("list_sessions", "list_session_summaries", "delete", "list_subkeys")
    assert all(callable(getattr(OvilloSessionStore, name)) for name in optional)


def test_the_sdk_lists_reads_renames_and_deletes_what_is_kept(tmp_path: Path) -> None:
    store = OvilloSessionStore(data_dir=tmp_path)
    folder = str(tmp_path)

    async def run() -> None:
        from claude_agent_sdk import project_key_for_directory

        key = {"project_key": project_key_for_directory(folder), "session_id": MAIN}
        await store.append(key, [said(0, "user", "Which cards are refused?"), said(1, "assistant", "Those of 2019.")])
        [listed] = await list_sessions_from_store(store, directory=folder)
        assert (listed.session_id, listed.first_prompt) == (MAIN, "Which cards are refused?")
        assert len(await get_session_messages_from_store(store, MAIN, directory=folder)) == 2
        await rename_session_via_store(store, MAIN, "Refused cards", directory=folder)
        [listed] = await list_sessions_from_store(store, directory=folder)
        assert listed.summary == "Refused cards"
        await delete_session_via_store(store, MAIN, directory=folder)
        assert await list_sessions_from_store(store, directory=folder) == []

    asyncio.run(run())
