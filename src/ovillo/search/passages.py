"""Cutting a text into passages to be embedded: a sentence in a long answer is found as if it stood alone.

Owns where to cut. One vector for a whole message hides what one of its sentences says (evidence.md, "Vectors").
"""

from __future__ import annotations

import re

#: Names this way of cutting; vectors of another are not compared with these.
_SCHEME = "passages-1"

#: Sentence ends (CJK ones need no blank after them) and line ends.
_BORDER = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
#: Shorter pieces ("Done.") say too little alone and go with what follows (characters).
_SHORT = 30
#: Text looked at (characters) and vectors made of one document.
_LOOKED_AT = 6_000
MOST = 16


def passages(text: str) -> list[str]:
    """The passages of ``text`` in order, at least one, at most ``MOST``."""
    pieces: list[str] = []
    held = ""
    for piece in _BORDER.split(text[:_LOOKED_AT]):
        held = f"{held} {piece.strip()}".strip()
        if len(held) >= _SHORT:
            pieces.append(held)
            held = ""
    if held:
        pieces[-1:] = [f"{pieces[-1]} {held}"] if pieces else [held]
    if len(pieces) > MOST:
        # Too many: neighbours are put together, evenly.
        size = -(-len(pieces) // MOST)
        pieces = [" ".join(pieces[at : at + size]) for at in range(0, len(pieces), size)]
    return pieces or [text[:_LOOKED_AT]]


def stored_as(embedder_id: str) -> str:
    """The name vectors are kept under: they are comparable only when model, passages and form are the same."""
    return f"{embedder_id}/{_SCHEME}-4bit"
