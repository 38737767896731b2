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
SECURITY: dict[str, tuple[str, str]] = {
    "SEC-1": ("Secrets of the usual kinds are masked before storing, in en, es, fr, pt", "DESIGN 15; issue 2 Ingest"),
    "SEC-2": ("Hashes, ids, images and placeholders are not taken for secrets", "platform.md 4"),
    "SEC-3": ("A marker names the kind and a keyed fingerprint: the same secret stays recognisable", "platform.md 4"),
    "SEC-4": ("Redaction never raises, is idempotent, and hands clean text back unchanged", "platform.md 4"),
    "SEC-5": ("Every text of a record is redacted: prompts, tool input and output, diffs, errors, titles", "DESIGN 15"),
    "SEC-6": ("Redaction can be switched off", "platform.md 4"),
}
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
