"""The query with the concrete names put in.

Owns the wording of it: for people each expression keeps its words and gets the names behind it in brackets, for a search the
names stand in its place.
"""

from __future__ import annotations

from collections.abc import Sequence

from ovillo.references.model import Kind, Resolved, Status


def expand(query: str, references: Sequence[Resolved]) -> str:
    """``revisa esa función`` becomes ``revisa esa función (process_payment)``; unchanged where nothing was resolved."""
    text = query
    for each in sorted(references, key=lambda x: -x.reference.span[1]):
        if each.status is not Status.RESOLVED:
            continue
        names = [entity.name for entity in each.entities]
        if each.reference.kind is Kind.EXPLICIT and each.reference.text.casefold() == names[0].casefold():
            continue
        at = each.reference.span[1]
        text = f"{text[:at]} ({', '.join(names)}){text[at:]}"
    return text


def replaced(query: str, references: Sequence[Resolved]) -> str:
    """``revisa esa función`` becomes ``revisa process_payment``: the words that only refer would find what has them."""
    text = query
    for each in sorted(references, key=lambda x: -x.reference.span[0]):
        if each.status is Status.RESOLVED and not each.serves:
            start, end = each.reference.span
            text = f"{text[:start]}{' '.join(entity.name for entity in each.entities)}{text[end:]}"
    return text
