"""Keeping API keys. The contract is declared where it is needed, a floor below: ``ovillo.security.keys.KeyRecords``."""

from __future__ import annotations

from typing import Protocol

from ovillo.security.keys import AccessKey, KeyRecords

__all__ = ["AccessKey", "KeyStore"]


class KeyStore(KeyRecords, Protocol):
    """``KeyRecords`` as a subject of the store."""
