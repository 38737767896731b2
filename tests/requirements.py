"""Behaviours promised to users, by id, with the page that promises them.

A test names what it shows with ``@pytest.mark.requirement("ID")``; ``test_requirements.py`` checks both
ways. One section an area; ids are ``AREA-n`` and are never used again for something else.
"""

from __future__ import annotations

#: id -> (promise, source)
READERS: dict[str, tuple[str, str]] = {}
STORE: dict[str, tuple[str, str]] = {
    "STORE-1": ("A delta comes back as it went in", "DESIGN 4"),
    "STORE-2": ("Applying the same delta twice changes nothing", "DESIGN 5"),
    "STORE-3": ("Usage once per model answer, in pieces or not", "DESIGN 5"),
    "STORE-4": ("Late tool results join their call", "DESIGN 18"),
    "STORE-5": ("Nothing known is overwritten by its absence", "formats 0.2"),
    "STORE-6": ("The newer store of a client wins, by session id", "DESIGN 5"),
    "STORE-7": ("Order is seq; pages lose nothing", "DESIGN 4"),
    "STORE-8": ("Namespaces are isolated", "DESIGN 15"),
    "STORE-9": ("Words, phrases, prefixes, exclusion", "DESIGN 6"),
    "STORE-10": ("Qualifiers limit documents and sessions", "DESIGN 6"),
    "STORE-11": ("Titles are found", "DESIGN 6"),
    "STORE-12": ("Forks do not count or show inherited messages twice", "DESIGN 5"),
    "STORE-13": ("Reverted messages are told apart", "issue 2"),
    "STORE-14": ("A killed scan continues: cursor and records move together", "issue 2"),
    "STORE-15": ("Substring search in the background or by bounded scan", "DESIGN 6"),
    "STORE-16": ("Lists page with stable cursors", "DESIGN 18"),
    "STORE-17": ("Vectors of two models are never compared", "DESIGN 6"),
    "STORE-18": ("Derived data can be rebuilt", "style guide 16"),
    "STORE-19": ("Threads read and write at once", "DESIGN 3"),
    "STORE-20": ("No text or JSON is lost", "style guide 14"),
    "STORE-21": ("Several processes on one database, no lock error", "DESIGN 5"),
    "STORE-22": ("A damaged database is named with what to do", "DESIGN 16"),
    "STORE-23": ("A newer database is refused unchanged", "DESIGN 16"),
    "STORE-24": ("Tokeniser version in the database", "retrieval 4"),
    "STORE-25": ("History is private to its owner", "DESIGN 15"),
}
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
