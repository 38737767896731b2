"""What sessions said about a question, quoted with its place.

Owns which places are shown and what each is worth. Finding them is search's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ovillo.references.context.gathering import found_items
from ovillo.references.context.providers import ProviderAnswer, Question

if TYPE_CHECKING:
    from ovillo.search.service import Search


class SaidInSessions:
    """A ``Provider``."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def evidence(self, question: Question) -> ProviderAnswer:
        items, _, cut = found_items(
            self._search,
            question.namespace,
            question.plain,
            question.wording,
            session=None,
            skip=(),
            asked=question.asked,
            scope=question.scope,
        )
        return ProviderAnswer(tuple(items), notes=(cut,) if cut else ())
