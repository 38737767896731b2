"""A turn that says where the matter of the conversation lies: "Es en la validación", "it's in the validation".

Owns telling such a turn and the words of the place. Which matter and which place are meant is ``narrowing``'s.
"""

from __future__ import annotations

from ovillo.references.descriptions import content
from ovillo.references.detection.sentence import folded_text
from ovillo.references.lexicons import grammar, languages_of
from ovillo.references.words import tokens

#: Words that a place has at most; longer ones tell more than a place.
_LONGEST = 5


def place_said(text: str, leaning: str | None = None) -> tuple[str, ...]:
    """The words of the place, as they are said; none where the turn tells anything else."""
    spoken = tokens(text)
    folded, places = folded_text(spoken)
    for code in languages_of((token.lower for token in spoken), leaning):
        match = grammar(code).narrowing.match(folded)
        if match is None:
            continue
        rest = [token for token, (start, _) in zip(spoken, places, strict=True) if start >= match.end()]
        if not rest or len(rest) > _LONGEST or any(token.breaks for token in rest[1:]):
            continue
        if content(token.lower for token in rest):
            return tuple(token.lower for token in rest)
    return ()
