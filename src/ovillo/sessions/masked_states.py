"""Masking the saved states of sessions again.

Owns their part of the pass over everything (``masking``): their bytes are read by ``snapshot_encoding`` alone, and versions build on
each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ovillo.model.records import Namespace, SessionId
from ovillo.sessions.snapshot_encoding import Damaged, content_of, encode, plain_text
from ovillo.sessions.snapshots import plain_of

if TYPE_CHECKING:
    from ovillo.security.redaction import Redactor
    from ovillo.store.protocol import Store

_VERSIONS = 1_000


def mask_states(store: Store, redactor: Redactor, namespace: Namespace, session_id: SessionId) -> int:
    """Masks all versions of a session's state; returns how many changed."""
    changed, before = 0, None
    while page := store.snapshots.versions(namespace, session_id, before=before, limit=_VERSIONS):
        changed += sum(_mask_state(store, redactor, namespace, session_id, row.version) for row in page)
        before = page[-1].version
    return changed


def _mask_state(store: Store, redactor: Redactor, namespace: Namespace, session_id: SessionId, version: int) -> bool:
    """Versions that depend on a changed one become full copies; ``memory_optimize`` packs them again."""
    chain = store.snapshots.chain(namespace, session_id, version)
    try:
        content = content_of(plain_of(chain)) if chain else {}
    except Damaged:
        return False  # unreadable, which ``restore`` reports
    masked = redactor.redact_value(content)
    if masked is content:
        return False
    row = chain[-1][0]
    for resting in store.snapshots.resting_on(namespace, session_id, version):
        plain = plain_of(store.snapshots.chain(namespace, session_id, resting.version))
        store.snapshots.rewrite(namespace, session_id, {resting.version: encode(plain, resting.level)})
    encoded = encode(plain_text(masked), row.level)
    # False: another process was quicker, with these rules or with ones it will check against these.
    return store.snapshots.replace(namespace, session_id, version, row.checksum, encoded)
