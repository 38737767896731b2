"""Leases: work of which one process at a time is enough, or must be alone."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Protocol


class LeaseStore(Protocol):
    def hold(self, name: str, wait_s: float = 0) -> AbstractContextManager[bool]:
        """Whether this process has the lease of that name for the length of the block; false when another one (or another
        thread) has not given it up within ``wait_s``. It ends with the process, however that ends.

        ``name`` is a word: letters, digits and hyphens. Raises StoreUnavailable where leases cannot be kept."""
        ...
