"""What a secret looks like: rules as data for RE2, in tables by family.

Owns patterns only. Whether a value that stands after a key word is a secret or a placeholder is decided in
``secret_values``; applying the rules is the work of ``secret_search`` and ``redaction``. Token shapes come from the
vendors' public documentation of their key formats. RE2 syntax: no look-around, and every pattern runs in linear
time, so unbounded repetition is cheaper here than counted repetition.
"""

from __future__ import annotations

from ovillo.security.secret_rules.assignments import ASSIGNMENTS, KEY_PATTERNS, WORDLESS
from ovillo.security.secret_rules.commands import COMMANDS
from ovillo.security.secret_rules.gates import ASSIGNED, COMMAND_SIGNS, SPOKEN_OF, WORDLESS_SIGNS
from ovillo.security.secret_rules.keys import KEYS, PHRASED, PHRASES
from ovillo.security.secret_rules.rule import Check, Family, Rule
from ovillo.security.secret_rules.sentences import SENTENCES
from ovillo.security.secret_rules.services import SERVICES

__all__ = ["FAMILIES", "KEY_PATTERNS", "RULES", "Check", "Family", "Rule"]

#: More telling rules first: where two overlap, the first names the kind.
RULES: tuple[Rule, ...] = KEYS + PHRASES + SERVICES + WORDLESS + COMMANDS + ASSIGNMENTS + SENTENCES

_SHAPES = KEYS + SERVICES
_LATE = tuple(rule for rule in _SHAPES if rule.gate is not None)

#: The rules by family, in two groups that share an automaton each: all in one would have too many states.
FAMILIES: tuple[tuple[Family, ...], ...] = (
    (
        Family(tuple(rule for rule in _SHAPES if rule.gate is None)),
        Family(_LATE, "|".join(sorted({f"(?:{rule.gate})" for rule in _LATE}))),
        Family(PHRASES, PHRASED, reach=50),
    ),
    (
        Family(ASSIGNMENTS, ASSIGNED),
        Family(SENTENCES, SPOKEN_OF),
        Family(WORDLESS, WORDLESS_SIGNS),
        Family(COMMANDS, COMMAND_SIGNS, reach=0, continued=True),
    ),
)
