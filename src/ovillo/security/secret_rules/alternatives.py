"""Alternatives of a regular expression, written one below the other.

Owns how they are joined. What is joined is a table: a line says one thing, with what it is for beside it, and a new way of
saying it is a new line.
"""

from __future__ import annotations

from typing import NamedTuple


class Form(NamedTuple):
    """One alternative, and an example that it matches as a whole: tests hold that it does."""

    pattern: str
    example: str


def either(*alternatives: str) -> str:
    """The first of them that matches; not in brackets of its own."""
    return "|".join(alternatives)


def words(*lines: str) -> str:
    """Alternatives without blanks, several to a line."""
    return either(*(word for line in lines for word in line.split()))


def forms(*table: Form) -> str:
    return either(*(one.pattern for one in table))
