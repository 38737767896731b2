"""Reading a session's messages in pages that are bounded by size as well as by number.

Owns where a page ends: behind the message that fills it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ovillo.model.records import Message, Namespace, SessionId
from ovillo.model.text import message_chars

if TYPE_CHECKING:
    from ovillo.store.protocol import SessionStore


def message_page(
    store: SessionStore,
    namespace: Namespace,
    session_id: SessionId,
    *,
    after_seq: int | None = None,
    before_seq: int | None = None,
    after_id: str | None = None,
    before_id: str | None = None,
    count: int,
    max_chars: int,
    newest_first: bool = False,
) -> tuple[list[Message], bool]:
    """``count`` messages between the places, fewer when they fill ``max_chars``, and whether there are more."""
    read = partial(
        store.messages,
        namespace,
        session_id,
        after_seq=after_seq,
        before_seq=before_seq,
        newest_first=newest_first,
    )
    messages = read(after_id=after_id, before_id=before_id, limit=count + 1, max_chars=max_chars)
    if len(messages) > count:
        return messages[:count], True
    if sum(map(message_chars, messages)) < max_chars:
        return messages, False
    # It may have been cut by its size, or have filled it just at the end.
    last = messages[-1].id
    after_id, before_id = (after_id, last) if newest_first else (last, before_id)
    return messages, bool(read(after_id=after_id, before_id=before_id, limit=1))
