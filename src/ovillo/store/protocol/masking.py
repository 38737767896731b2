"""Masking again, in place, whatever text is stored, when the rules for secrets have become others.

Owns the single steps; which rules, and what is told of it, is ``ovillo.sessions.masking``'s. No call takes a namespace: the rules are
the program's, for all namespaces alike, and nothing is given back but counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.masking import MaskingState, Place, Rules
from ovillo.model.records import Message, Session


class Masker(Protocol):
    """Takes secrets out; handed in, so that the store knows nothing of rules. Gives the same object when there are none."""

    def redact_text(self, text: str) -> str: ...

    def identifier(self, text: str) -> str: ...

    def redact_value(self, value: Any) -> Any: ...

    def redact_message(self, message: Message) -> Message: ...

    def redact_session(self, session: Session) -> Session: ...


@dataclass(frozen=True, slots=True)
class MaskingStep:
    """``after`` is ``None`` when the subject is through."""

    after: Place | None
    changed: int


class MaskingStore(Protocol):
    def subjects(self) -> Sequence[str]:
        """What holds texts, in the order to go through it. Names say what they are, for people."""
        ...

    def left(self, subject: str, after: Place | None) -> int:
        """How much of a subject comes behind a place; all of it for ``None``."""
        ...

    def step(self, subject: str, masker: Masker, after: Place | None) -> MaskingStep:
        """Mask what comes next, for a fraction of a second; writers wait for what is really changed only. Indexes and all that was
        made of the old text follow, or are dropped and made again; it may stay in free space until ``forgetting.wipe``.

        Done again it changes nothing, so that it may be ended anywhere. Raises StoreUnavailable."""
        ...

    # --- by which rules

    def state(self) -> MaskingState:
        """What ``note`` noted last; of a store that never heard of rules: masked by none."""
        ...

    def note(self, state: MaskingState) -> None: ...

    def begin(self, rules: Rules) -> None:
        """From now on this process writes what ``rules`` masked. All of a new store is masked by them; of one that was masked by more,
        only what both have in common is sure from here on."""
        ...
