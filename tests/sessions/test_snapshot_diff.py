"""What changed between two states, as a patch."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ovillo.sessions.snapshot_diff import Change, difference

_KEYS = st.sampled_from(["a", "b", "c/d", "e~f", ""])
_LEAVES = st.none() | st.booleans() | st.integers(-2, 2) | st.sampled_from(["x", "y", 0.0, 1.0])
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=6) | st.dictionaries(_KEYS, inner, max_size=4), max_leaves=25
)


def patched(value: Any, changes: list[Change]) -> Any:
    """RFC 6902, without sparing anything."""
    whole = {"": copy.deepcopy(value)}
    for change in changes:
        *way, last = [step.replace("~1", "/").replace("~0", "~") for step in change.path.split("/")]
        parent: Any = whole
        for step in way:
            parent = parent[int(step)] if isinstance(parent, list) else parent[step]
        key = int(last) if isinstance(parent, list) else last
        if change.op == "add" and isinstance(parent, list):
            assert key <= len(parent)
            parent.insert(key, copy.deepcopy(change.value))
        elif change.op == "remove":
            assert parent.pop(key) == change.was
        else:
            assert change.op == "add" or parent[key] == change.was
            parent[key] = copy.deepcopy(change.value)
    return whole[""]


def typed(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.requirement("SNAP-12")
@settings(max_examples=400, deadline=None)
@given(_VALUES, _VALUES)
def test_a_diff_applied_to_the_old_state_gives_the_new_one(old: Any, new: Any) -> None:
    changes = difference(old, new)
    assert typed(patched(old, changes)) == typed(new)
    assert difference(old, copy.deepcopy(old)) == []


@pytest.mark.requirement("SNAP-12")
def test_an_item_put_in_or_taken_out_is_one_change_wherever_it_stands() -> None:
    items = [{"id": n, "text": f"message {n}"} for n in range(500)]
    for at in (0, 250, 500):
        more = [*items[:at], {"id": "new"}, *items[at:]]
        assert difference(items, more) == [Change("add", f"/{at}", {"id": "new"})]
        assert difference(more, items) == [Change("remove", f"/{at}", was={"id": "new"})]


@pytest.mark.requirement("SNAP-12")
def test_a_change_deep_inside_is_named_by_its_pointer() -> None:
    old = {"plan": {"a/b": [1, {"c~d": "before"}]}, "gone": 1}
    new = {"plan": {"a/b": [1, {"c~d": "after"}]}, "new": True}
    assert difference(old, new) == [
        Change("remove", "/gone", was=1),
        Change("replace", "/plan/a~1b/1/c~0d", "after", "before"),
        Change("add", "/new", True),
    ]


@pytest.mark.requirement("SNAP-12")
def test_numbers_and_truth_values_that_python_takes_for_equal_are_told_apart() -> None:
    assert [x.value for x in difference({"a": 1, "b": 1}, {"a": True, "b": 1.0})] == [True, 1.0]


@pytest.mark.requirement("SNAP-12")
def test_large_arrays_of_repeated_items_are_compared_in_one_pass() -> None:
    """Quadratic comparing would not end."""
    old, new = ["x", "y"] * 50_000, ["y", "x"] * 50_001
    assert len(difference(old, new)) == 100_002
