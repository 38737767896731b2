"""What a secret looks like: rules as data for RE2, in tables by family.

Owns patterns only. Whether a value that stands after a key word is a secret or a placeholder is decided in
``secret_values``; applying the rules is ``redaction``'s work. Token shapes come from the vendors' public
documentation of their key formats. RE2 syntax: no look-around, and every pattern runs in linear time, so
unbounded repetition is cheaper here than counted repetition.
"""

from __future__ import annotations

from ovillo.security.secret_rules.assignments import ASSIGNED, ASSIGNMENTS, KEY_PATTERNS, WORDLESS
from ovillo.security.secret_rules.commands import COMMANDS
from ovillo.security.secret_rules.keys import KEYS
from ovillo.security.secret_rules.rule import Check, Rule
from ovillo.security.secret_rules.sentences import SENTENCES, SPOKEN_OF
from ovillo.security.secret_rules.services import SERVICES

__all__ = ["FAMILIES", "KEY_PATTERNS", "RULES", "Check", "Rule"]

#: More telling rules first: where two overlap, the first names the kind.
RULES: tuple[Rule, ...] = KEYS + SERVICES + WORDLESS + COMMANDS + ASSIGNMENTS + SENTENCES

#: The rules by automaton, as ``(gate, rules)``. Each is quick alone; all in one would have too many states. What has a
#: gate is looked for only in texts with the words that all its rules begin with: a few per cent of all.
FAMILIES: tuple[tuple[str | None, tuple[Rule, ...]], ...] = (
    (None, KEYS + SERVICES),
    (None, WORDLESS + COMMANDS),
    (ASSIGNED, ASSIGNMENTS),
    (SPOKEN_OF, SENTENCES),
)
