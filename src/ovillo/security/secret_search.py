"""Which rules for secrets match where: the automata, and the gates before them.

Owns speed: every text passes two automata, which know the shapes of tokens and, of all other rules,
only what gives them away (``secret_rules.gates``). The rules themselves are tried on the lines around. What a match
is worth is judged in ``redaction`` and ``secret_values``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from ovillo.security.secret_rules import FAMILIES, RULES, Family

#: Caches (bytes) of what every text passes, and of what few do. Measured: smaller ones cost speed.
_PASS_BYTES = 24 << 20
_FAMILY_BYTES = 24 << 20
_RULE_BYTES = 2 << 20
#: Shorter texts are looked at whole.
_SHORT = 1000


@dataclass(frozen=True, slots=True)
class Window:
    """A piece of a text from ``start`` on, whole lines, and which of ``RULES`` match in it."""

    start: int
    data: bytes
    rules: list[int]


def expression(pattern: str) -> Any:
    return re2.compile(pattern, _options(_RULE_BYTES))


#: What finds the patterns of a text, and what each of them is: a rule or a family.
_Pass = tuple[Callable[[bytes], list[int] | None], list["int | _Member"]]


class Search:
    """The rules as automata: some over every text, others on the lines around what their gate found."""

    def __init__(self) -> None:
        self._passes: list[_Pass] = []
        for families in FAMILIES:
            patterns: list[str] = []
            meanings: list[int | _Member] = []
            for member in map(_Member, families):
                if member.family.gate is None:
                    patterns += [rule.pattern for rule in member.family.rules]
                    meanings += member.indexes
                else:
                    patterns.append(member.family.gate)
                    meanings.append(member)
            self._passes.append((_matcher(patterns, _PASS_BYTES), meanings))
        self._finders: list[Any] = [None] * len(RULES)

    def found(self, data: bytes) -> bool:
        """Whether any rule matches somewhere."""
        return next(iter(self.windows(data)), None) is not None

    def windows(self, data: bytes) -> Iterable[Window]:
        """Where which rules match; one place may be in several windows."""
        # Nearly every text ends here.
        (match_first, first), (match_second, second) = self._passes
        one, two = match_first(data), match_second(data)
        if not one and not two:
            return ()
        return self._windows(data, [*(first[index] for index in one or ()), *(second[index] for index in two or ())])

    def _windows(self, data: bytes, matching: list[int | _Member]) -> Iterator[Window]:
        rules = [one for one in matching if isinstance(one, int)]
        if rules:
            yield Window(0, data, rules)
        for member in matching:
            if isinstance(member, _Member):
                yield from member.windows(data)

    def finder(self, index: int) -> Any:
        if self._finders[index] is None:
            self._finders[index] = expression(RULES[index].pattern)
        return self._finders[index]


class _Member:
    """A family with its expressions, compiled when its gate first opens."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.indexes = [_INDEXES[id(rule)] for rule in family.rules]
        self._match: Any = None
        self._gate: Any = None

    def windows(self, data: bytes) -> Iterator[Window]:
        if self._match is None:
            self._match = _matcher([rule.pattern for rule in self.family.rules], _FAMILY_BYTES)
            self._gate = re2.compile(self.family.gate or "", _options(_FAMILY_BYTES, captures=False))
        if len(data) < _SHORT:
            pieces: Iterable[tuple[int, int]] = ((0, len(data)),)
        else:
            pieces = _lines_around(data, self._gate, self.family)
        for start, end in pieces:
            piece = data[start:end]
            if matching := self._match(piece):
                yield Window(start, piece, [self.indexes[index] for index in matching])


_INDEXES = {id(rule): index for index, rule in enumerate(RULES)}


def _lines_around(data: bytes, gate: Any, family: Family) -> Iterator[tuple[int, int]]:
    """The lines of each match of ``gate`` and some more on both sides; where they meet, they are one piece."""
    start = end = -1
    match = gate.search(data)
    while match:
        first, last = match.span()
        if first >= end:
            first = _back(data, first, family)
            if end < 0:
                start = first
            elif first > end:
                yield start, end
                start = first
            else:
                start = min(start, first)
        line_end = data.find(b"\n", last) + 1
        if not line_end:
            end = len(data)
            break
        end = _on(data, line_end, family)
        # The rest of the match's line is inside already.
        match = gate.search(data, line_end)
    if end >= 0:
        yield start, end


def _back(data: bytes, position: int, family: Family) -> int:
    """Where the line begins that stands as far above the one of ``position`` as a match may reach."""
    start = data.rfind(b"\n", 0, position) + 1
    lines = family.reach
    while start > 0:
        if not (family.continued and _continues(data, start - 1)):
            if lines == 0:
                break
            lines -= 1
        start = data.rfind(b"\n", 0, start - 1) + 1
    return start


def _on(data: bytes, position: int, family: Family) -> int:
    """Where the line ends that stands as far below the one before ``position``."""
    lines = family.reach
    while lines or (family.continued and _continues(data, position - 1)):
        if not (family.continued and _continues(data, position - 1)):
            lines -= 1
        position = data.find(b"\n", position) + 1
        if not position:
            return len(data)
    return position


def _continues(data: bytes, line_break: int) -> bool:
    """Whether a command goes on behind ``line_break``."""
    last = data[max(0, line_break - 2) : line_break]
    return last.endswith(b"\\") or last == b"\\\r"


def _options(size: int, *, captures: bool = True) -> Any:
    options = re2.Options()
    options.never_capture = not captures
    options.max_mem = size
    options.log_errors = False
    return options


def _matcher(patterns: list[str], size: int) -> Callable[[bytes], list[int] | None]:
    automaton = re2.Set.SearchSet(_options(size))
    for pattern in patterns:
        automaton.Add(pattern)
    automaton.Compile()
    return automaton.Match  # type: ignore[no-any-return]  # the binding has no types


@lru_cache(maxsize=1)
def search() -> Search:
    return Search()
