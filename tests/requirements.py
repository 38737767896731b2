"""Behaviours promised to users, by id, with the page that promises them.

A test names what it shows with ``@pytest.mark.requirement("ID")``; ``test_requirements.py`` checks both
ways. One section an area; ids are ``AREA-n`` and are never used again for something else.
"""

from __future__ import annotations

#: id -> (promise, source)
READERS: dict[str, tuple[str, str]] = {}
STORE: dict[str, tuple[str, str]] = {}
INGEST: dict[str, tuple[str, str]] = {}
SESSIONS: dict[str, tuple[str, str]] = {}
SEARCH: dict[str, tuple[str, str]] = {}
TOOLS: dict[str, tuple[str, str]] = {}
CLI: dict[str, tuple[str, str]] = {}
SECURITY: dict[str, tuple[str, str]] = {}
PROJECT: dict[str, tuple[str, str]] = {}

REQUIREMENTS = {
    **READERS,
    **STORE,
    **INGEST,
    **SESSIONS,
    **SEARCH,
    **TOOLS,
    **CLI,
    **SECURITY,
    **PROJECT,
}
