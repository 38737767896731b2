"""Recognising sentences that decide something, in English, Spanish, French and Portuguese.

Owns the cues (grammar of deciding: agreeing, choosing, ruling out); judges nothing.
"""

from __future__ import annotations

import re

_CUES = (
    # English
    r"we(?:'ll| will| should| decided| agreed| chose| keep| use)\b",
    r"decision(?::| is| was)|decided to|agreed (?:to|on|that)|settled on|the rule is",
    r"let'?s (?:use|keep|go|not)|instead of|rather than|from now on|going forward",
    r"must (?:not|never|always|stay)|we won'?t",
    # Spanish
    r"decid(?:imos|ido|ir|í|ió)|decisión(?::| es| fue)|acordamos|acordado|quedamos en",
    r"vamos a (?:usar|dejar|hacer|mantener)|en (?:lugar|vez) de|a partir de ahora",
    r"mejor (?:usar|dejar)|usaremos|mantendremos|no (?:usaremos|vamos a)",
    # French
    r"décid(?:é|ons|er)|décision(?: :|:| est)|convenu|on (?:va|garde|utilise|choisit)",
    r"nous (?:allons|utiliserons|gardons|avons choisi)|au lieu de|plutôt que|désormais|à partir de maintenant",
    # Portuguese
    r"decid(?:imos|ido|ir|iu)|decisão(?::| é| foi)|combinamos|combinado",
    r"vamos (?:usar|manter|deixar)|em vez de|ao invés de|a partir de agora|usaremos|manteremos|não vamos",
)
_CUE = re.compile("|".join(rf"\b(?:{cue})" for cue in _CUES), re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?!\s|$)[^.!?\n]*)*[.!?]?")
_MIN, _MAX = 15, 320


def decisions_in(text: str) -> list[str]:
    """Sentences of ``text`` that sound like a decision, in order; code blocks are passed over."""
    prose = re.sub(r"```.*?(?:```|\Z)", " ", text[:20_000], flags=re.DOTALL)
    found = (" ".join(sentence.split()) for sentence in _SENTENCE.findall(prose))
    return [sentence for sentence in found if _MIN <= len(sentence) <= _MAX and _CUE.search(sentence)]


def is_decision(sentence: str) -> bool:
    """Whether it sounds like a decision, whatever its length."""
    return _CUE.search(sentence) is not None
