"""The version of the rules for secrets: what was masked by older ones is read again.

Owns one number. Whatever keeps texts of others (sources, code, documents) notes beside them by which rules they were
masked, and reads again what was masked by fewer.
"""

from __future__ import annotations

#: Raised with every change of what is masked; ``tests/security/test_rules_version.py`` notices one.
RULES_VERSION = 2
#: Nothing was masked.
NO_RULES = 0


def rules_version(mode: str) -> int:
    """What is masked under the setting ``redaction``."""
    return NO_RULES if mode == "off" else RULES_VERSION
