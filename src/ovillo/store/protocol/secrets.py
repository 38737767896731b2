"""Random secrets that belong to the store: the key of redaction markers, of cursors, of the audit's chain."""

from __future__ import annotations

from typing import Protocol


class SecretStore(Protocol):
    def get(self, name: str) -> bytes:
        """32 random bytes kept under ``name``, made at first use."""
        ...
