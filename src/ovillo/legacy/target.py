"""Where migrated things go.

Owns the contract only; ``ovillo.memory.migration`` keeps it with the services of this machine.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Protocol

from ovillo.legacy.items import Item
from ovillo.model.records import Namespace


class Standing(StrEnum):
    """How a thing stands to what is here."""

    NEW = "new"
    #: All of it is here, as it was read (with secrets masked); it may have gone on since.
    PRESENT = "present"
    #: Another thing has its name.
    DIFFERS = "differs"


class Target(Protocol):
    def standing(self, namespace: Namespace, item: Item) -> Standing:
        """Compares with what is stored, whole. Raises InvalidInput or LimitExceeded for what cannot be kept here."""
        ...

    def put(self, namespace: Namespace, item: Item) -> tuple[str, ...]:
        """Take over what is ``NEW``: all of it or nothing, done after COMMIT. What is worth saying comes back.

        Raises InvalidInput, LimitExceeded, Conflict, StoreUnavailable."""
        ...
