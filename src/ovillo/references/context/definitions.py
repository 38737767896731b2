"""Definitions of the code that the words of a question describe, shown with their source.

Owns which of them are shown. Finding them is symbol search's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ovillo.model.records import Namespace
from ovillo.model.scope import Scope
from ovillo.references.context.gathering import code_item
from ovillo.references.context.providers import ProviderAnswer, Question

if TYPE_CHECKING:
    from ovillo.code.service import CodeIndex
    from ovillo.model.code import SymbolRow

#: Definitions that words describe, in the code of a scope, best first, with their worth 0..1.
FindSymbols = Callable[[Namespace, str, Scope], "Sequence[tuple[SymbolRow, float]]"]


class Definitions:
    """A ``Provider``."""

    def __init__(self, code: CodeIndex, find: FindSymbols) -> None:
        self._code = code
        self._find = find

    def evidence(self, question: Question) -> ProviderAnswer:
        found = self._find(question.namespace, question.resolved.expanded_query, question.scope)
        items = (code_item(self._code, question.namespace, symbol, worth) for symbol, worth in found)
        shown = tuple(item for item in items if item is not None)
        return ProviderAnswer(shown, confidence=max((item.worth for item in shown), default=0.0))

    def names(self, question: Question) -> set[str]:
        """What the code has by this description."""
        return {symbol.name for symbol, _ in self._find(question.namespace, question.asked, question.scope)}
