"""What speaks for a definition, beside the words that it shares with a question."""

from __future__ import annotations

from ovillo.model.code import SymbolKind, SymbolRow
from ovillo.search.symbols.merits import Evidence, merits
from ovillo.search.symbols.ranking import Ranked
from ovillo.search.symbols.tree import PRIVATE


def _evidence(
    name: str,
    score: float = 0.1,
    *,
    near: tuple[int, float] | None = None,
    body: tuple[int, float] | None = None,
    flags: int = 0,
    is_of_kind: bool = False,
    lines: int = 10,
) -> Evidence:
    symbol = SymbolRow(
        *(1, "/shop", "shop.py", "python", SymbolKind.FUNCTION, name, name, "", "", 1, 1 + lines, None, (), True, False)
    )
    return Evidence(symbol, Ranked(0, score, 0.5, 0.6, 0.5, flags, is_of_kind), near, body)


def _first(*found: Evidence) -> str:
    merit = merits(found)
    return found[merit.index(max(merit))].symbol.name


def test_what_two_sides_found_stands_above_what_one_found_as_well() -> None:
    assert _first(_evidence("open"), _evidence("close", near=(0, 0.5))) == "close"
    assert _first(_evidence("open"), _evidence("close", body=(0, 0.8))) == "close"


def test_what_is_private_stands_below_what_is_not() -> None:
    assert _first(_evidence("_open", flags=PRIVATE), _evidence("open")) == "open"


def test_the_kind_that_is_asked_for_and_the_longer_body_decide_between_equals() -> None:
    assert _first(_evidence("open"), _evidence("close", is_of_kind=True)) == "close"
    assert _first(_evidence("open", lines=1), _evidence("close", lines=40)) == "close"
