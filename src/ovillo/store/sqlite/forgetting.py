"""Dropping what was derived from a session's parts, when the session goes or turns out to be another's copy.

Owns the entities' rows; what is found in parts is ``entities``'s.
"""

from __future__ import annotations

import apsw


def forget_mentions(db: apsw.Connection, key: int | None) -> None:
    """All that is known of a session's entities; names that nobody else uses go too."""
    db.execute(
        "DELETE FROM entities WHERE key IN (SELECT entity_key FROM mentions WHERE session_key = ?1) AND NOT EXISTS"
        " (SELECT 1 FROM mentions m WHERE m.entity_key = entities.key AND m.session_key <> ?1)",
        (key,),
    )
    db.execute("DELETE FROM mentions WHERE session_key = ?", (key,))
    db.execute("DELETE FROM tracked WHERE session_key = ?", (key,))
