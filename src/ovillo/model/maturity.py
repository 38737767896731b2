"""How far a tool may be relied on.

Owns the three words; which tool carries which, each tool says.
"""

from __future__ import annotations

from enum import StrEnum


class Maturity(StrEnum):
    #: Names, parameters and answers stay as they are, but for additions.
    PRODUCTION = "production"
    #: Whole and tested; what it answers may still change with a note in the changelog.
    BETA = "beta"
    #: To try out; it may change or go without a note.
    EXPERIMENTAL = "experimental"
