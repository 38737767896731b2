"""Sessions in and out in a few words: stores to import into, and the files of other programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.records import DEFAULT_NAMESPACE, Message, Namespace, SessionId
from ovillo.sessions.transfer.importing import Imported
from ovillo.settings import Settings
from tests.builders import NOON

NS = DEFAULT_NAMESPACE


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(Settings(data_dir=tmp_path, home=tmp_path, embedder="none", watch=False))
    yield opened
    opened.close()


def exported(services: Services, session_id: str, form: str = "json", namespace: Namespace = NS) -> bytes:
    return b"".join(services.transfer.export(namespace, SessionId(session_id), form).chunks)


def imported(services: Services, data: Any, **options: Any) -> Imported:
    text = data if isinstance(data, str | bytes) else json.dumps(data)
    return services.importer.import_session(NS, text, **options)


def minimal(*messages: Any, **fields: Any) -> dict[str, Any]:
    """The least that the specification asks for."""
    inner = {
        "name": "Pago",
        "provider": "openai",
        "modes": {"orchestrate": False, "plan": True, "bypassPermissions": False},
        "messages": list(messages),
        "longTermSummary": "",
        "metrics": {},
        **fields,
    }
    return {"version": "1.0", "exportedAt": NOON, "session": inner}


def said(role: str, content: str | None, **fields: Any) -> dict[str, Any]:
    return {"id": f"m-{content}"[:20], "role": role, "content": content, "timestamp": NOON, **fields}


def told(services: Services, session_id: str) -> list[Message]:
    return services.store.sessions.messages(NS, SessionId(session_id), limit=100_000)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    """A store that many sessions go into; each by another id."""
    folder = tmp_path_factory.mktemp("shared")
    opened = open_services(Settings(data_dir=folder, home=folder, embedder="none", watch=False, redaction="off"))
    yield opened
    opened.close()
