"""Our dataclasses are the standard ones, made later."""

from __future__ import annotations

import copy
import dataclasses
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import field
from threading import Barrier, Thread
from typing import Any, Generic, TypeVar

import msgspec
import pytest

from ovillo.model.dataclass import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ours:
    a: int
    b: str = "b"
    c: Mapping[str, int] = field(default_factory=dict)
    d: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def double(self) -> int:
        return self.a * 2


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    a: int
    b: str = "b"
    c: Mapping[str, int] = field(default_factory=dict)
    d: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def double(self) -> int:
        return self.a * 2


@dataclass(slots=True)
class OursChanging:
    a: int
    b: list[int] = field(default_factory=list)
    c: int = field(default=3, kw_only=True)
    d: int = field(default=4, init=False)


@dataclasses.dataclass(slots=True)
class StandardChanging:
    a: int
    b: list[int] = field(default_factory=list)
    c: int = field(default=3, kw_only=True)
    d: int = field(default=4, init=False)


@dataclass(frozen=True, slots=True)
class Hashed(Generic[T]):
    a: T
    b: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "b", self.b + 1)


def outcome(of: Callable[[], Any]) -> str:
    """What a call gives or raises, without the name of the class."""
    try:
        told = repr(of())
    except Exception as error:  # noqa: BLE001 - any of them is an outcome
        told = f"{type(error).__name__}: {error}"
    return told.replace("Ours", "Standard")


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: kind(1),
        lambda kind: kind(1, "x", {"y": 2}, (3,)),
        lambda kind: kind(b="x", a=2).double,
        lambda kind: kind(),
        lambda kind: kind(1, e=2),
        lambda kind: kind(1, "x", {}, (), 5),
        lambda kind: (kind(1) == kind(1, d=(9,)), kind(1) == kind(2), kind(1) == 1, kind(1) != kind(1)),
        lambda kind: hash(kind(1)),
        lambda kind: setattr(kind(1), "a", 2),
        lambda kind: delattr(kind(1), "a"),
        lambda kind: kind(1).__dict__,
        lambda kind: dataclasses.replace(kind(1), a=5, d=(1,)).d,
        lambda kind: dataclasses.asdict(kind(1, c={"q": 1})),
        lambda kind: [(each.name, each.type, each.compare) for each in dataclasses.fields(kind)],
        lambda kind: (kind.__match_args__, kind.__slots__, kind.__name__, kind.__module__),
        lambda kind: pickle.loads(pickle.dumps(kind(1, d=(4,)))).d,
        lambda kind: copy.deepcopy(kind(1, c={"q": 1})),
        lambda kind: msgspec.convert({"a": 1, "c": {"q": 2}}, kind),
        lambda kind: msgspec.convert({"a": "1"}, kind),
        lambda kind: msgspec.json.encode(kind(1)),
    ],
)
def test_a_class_does_what_the_standard_one_does(use: Callable[[type], Any]) -> None:
    assert outcome(lambda: use(Ours)) == outcome(lambda: use(Standard))


@pytest.mark.parametrize(
    "use",
    [
        lambda kind: kind(1),
        lambda kind: kind(1, [2], c=5),
        lambda kind: kind(1, [2], 5),
        lambda kind: kind(1, d=5),
        lambda kind: kind(),
        lambda kind: hash(kind(1)),
        lambda kind: (kind(1) == kind(1), kind(1) == kind(1, c=4), kind(1).b is kind(1).b),
        lambda kind: pickle.loads(pickle.dumps(kind(1, [4]))).b,
        lambda kind: dataclasses.replace(kind(1), a=5),
    ],
)
def test_a_class_that_may_change_does_what_the_standard_one_does(use: Callable[[type], Any]) -> None:
    assert outcome(lambda: use(OursChanging)) == outcome(lambda: use(StandardChanging))


def test_a_class_that_may_change_changes() -> None:
    changing = OursChanging(1)
    changing.a, changing.d = 5, 6
    assert (changing.a, changing.d, changing.c) == (5, 6, 3)


def test_what_is_no_field_is_refused_too() -> None:
    """The standard one fails with a fault of its own here (super() of the class before it got slots)."""
    with pytest.raises(dataclasses.FrozenInstanceError):
        Ours(1).z = 2  # type: ignore[attr-defined]


def test_a_generic_class_and_what_it_does_after_its_fields_are_set_work() -> None:
    assert (Hashed("x").b, Hashed("x", 4)) == (1, Hashed("x", 4))
    assert len({Hashed("x"), Hashed("x"), Hashed("y")}) == 2
    assert Hashed[int](1).a == 1


def test_the_first_call_may_come_from_many_threads() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        a: int

    made: list[int] = []
    together = Barrier(8)

    def make(number: int) -> None:
        together.wait()
        made.append(Fresh(number).a)

    threads = [Thread(target=make, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(made) == list(range(8))


def test_an_instance_made_elsewhere_is_read_before_any_was_made_here() -> None:
    """As a reading process does that gets its first records from another one."""
    given = pickle.dumps(Ours(7, d=(1,)))
    code = "import pickle, sys; x = pickle.loads(sys.stdin.buffer.read()); print(x.a, x.d, x == x, x)"
    told = subprocess.run([sys.executable, "-c", code], input=given, capture_output=True, check=True, timeout=60)
    assert told.stdout.decode() == "7 (1,) True Ours(a=7, b='b', c={})\n"
