"""What a report on usage holds, and adding it up.

Owns the shapes and the sums; how answers are told apart, ``grouping`` knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Usage

if TYPE_CHECKING:
    from ovillo.model.usage import PaidAnswer
    from ovillo.sessions.usage.prices import Price

By = Literal["day", "week", "month", "block", "session", "project", "model", "client", "branch"]
BY: tuple[By, ...] = ("day", "week", "month", "block", "session", "project", "model", "client", "branch")
#: Those that rows are ordered by.
TIMES = frozenset({"day", "week", "month", "block"})


class Figures:
    """Sums over answers. ``cost`` (US dollars) is of those whose cost is known; ``told_cost`` of it what the clients of ``told``
    answers wrote down themselves; ``unpriced`` are answers of models without a price, in the tokens and not in the cost."""

    __slots__ = (
        "answers",
        "cache_read",
        "cache_write",
        "cost",
        "input",
        "output",
        "reasoning",
        "told",
        "told_cost",
        "unpriced",
    )

    def __init__(self) -> None:
        self.answers = self.input = self.output = self.reasoning = self.cache_read = self.cache_write = 0
        self.told = self.unpriced = 0
        self.cost = self.told_cost = 0.0

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.output, self.reasoning, self.cache_read, self.cache_write)

    @property
    def tokens(self) -> int:
        return self.input + self.output + self.reasoning + self.cache_read + self.cache_write

    @property
    def known_cost(self) -> float | None:
        """``None`` where no answer's is known."""
        return self.cost if self.answers > self.unpriced or not self.answers else None

    def add(self, answer: PaidAnswer, price: Price | None) -> bool:
        """False where no cost of it is known."""
        self.answers += 1
        self.input += answer.input
        self.output += answer.output
        self.reasoning += answer.reasoning
        self.cache_read += answer.cache_read
        self.cache_write += answer.cache_write
        # Clients write 0 for models that they have no price of.
        if answer.cost:
            self.cost += answer.cost
            self.told_cost += answer.cost
            self.told += 1
            return True
        if price is None:
            # A request that failed cost nothing, whatever the price.
            free = not (answer.input or answer.output or answer.reasoning or answer.cache_read or answer.cache_write)
            self.unpriced += not free
            return free
        self.cost += price.cost(answer)
        return True

    def take(self, other: Figures) -> None:
        for name in self.__slots__:
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(frozen=True, slots=True)
class UsageRow:
    """``keys`` are in the order of the question; an empty one stands for what nothing is known of. A block is the ISO time of
    its beginning."""

    keys: tuple[str, ...]
    figures: Figures
    #: Of a session.
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Unpriced:
    """A model that nobody knows the price of."""

    model: str
    answers: int
    tokens: int


@dataclass(frozen=True, slots=True)
class UsageReport:
    by: tuple[By, ...]
    rows: tuple[UsageRow, ...]
    total: Figures
    #: Those with the most tokens first.
    unpriced: tuple[Unpriced, ...]
    #: Where prices come from; empty where there are none.
    prices: str
    #: Answers of unknown time are counted under no day.
    undated: int = 0
    notes: tuple[str, ...] = ()


class Sums:
    """Rows while they are added up."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, ...], Figures] = {}
        self.total = Figures()
        self.unpriced: dict[str, tuple[int, int]] = {}
        self.undated = 0

    def add(self, key: tuple[str, ...], answer: PaidAnswer, price: Price | None) -> None:
        row = self.rows.get(key)
        if row is None:
            row = self.rows[key] = Figures()
        if not row.add(answer, price):
            answers, tokens = self.unpriced.get(answer.model or "", (0, 0))
            own = answer.input + answer.output + answer.reasoning + answer.cache_read + answer.cache_write
            self.unpriced[answer.model or ""] = answers + 1, tokens + own
        self.undated += answer.at is None

    def report(
        self, by: tuple[By, ...], titles: dict[str, str], prices: str, notes: tuple[str, ...] = ()
    ) -> UsageReport:
        """By time where it was asked for, else the most expensive first, then those with the most tokens."""
        for figures in self.rows.values():
            self.total.take(figures)

        def place(item: tuple[tuple[str, ...], Figures]) -> tuple[object, ...]:
            keys, figures = item
            times = tuple(key for key, each in zip(keys, by, strict=True) if each in TIMES)
            return (times, -figures.cost, -figures.tokens, keys)

        ordered = sorted(self.rows.items(), key=place)
        at = by.index("session") if "session" in by else None
        rows = tuple(UsageRow(keys, figures, None if at is None else titles.get(keys[at])) for keys, figures in ordered)
        names = sorted(self.unpriced.items(), key=lambda item: (-item[1][1], item[0]))
        unpriced = tuple(Unpriced(model, answers, tokens) for model, (answers, tokens) in names)
        return UsageReport(by, rows, self.total, unpriced, prices, self.undated, notes)
