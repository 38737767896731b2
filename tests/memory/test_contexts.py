"""Contexts: what is stored, found again, switched and dropped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.memory.contexts import MAX_DEPTH, Contexts
from ovillo.model.errors import InvalidInput, LimitExceeded
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace
from ovillo.security.redaction import Redactor
from ovillo.store.engine import open_store
from tests.builders import NOON, WordAnalyzer

ME, SHE = "ses_me", "ses_she"


class Held:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Held:
    return Held()


@pytest.fixture
def contexts(tmp_path: Path, clock: Held) -> Iterator[Contexts]:
    store = open_store(tmp_path / "ovillo.db", WordAnalyzer())
    yield Contexts(store.contexts, Redactor(b"k" * 32), clock)
    store.close()


def value(contexts: Contexts, key: str, caller: str = ME, context: str | None = None) -> Any:
    found = contexts.retrieve(NS, caller, key, context=context)
    return found.entry.value if found.entry else found.reason


@pytest.mark.requirement("CTX-1")
def test_what_one_session_stores_the_next_one_finds_with_its_times(contexts: Contexts, clock: Held) -> None:
    stored = contexts.store(NS, ME, "plan", {"steps": ["a", {"b": None}]}, ttl_s=60)
    assert (stored.stored_at, stored.expires_at) == (NOON, NOON + 60_000)
    clock.now += 59_999
    assert contexts.retrieve(NS, SHE, "plan").entry == stored
    assert contexts.store(NS, SHE, "plan", {}).expires_at is None
    assert value(contexts, "plan") == {}


@pytest.mark.requirement("CTX-1")
def test_namespace_names_a_context_and_never_another_security_namespace(contexts: Contexts) -> None:
    contexts.store(NS, ME, "k", {"n": 1}, context="a")
    contexts.store(NS, ME, "k", {"n": 2}, context="b")
    assert value(contexts, "k") == "not_found"
    assert (value(contexts, "k", context="a"), value(contexts, "k", context="b")) == ({"n": 1}, {"n": 2})
    assert contexts.retrieve(Namespace("team"), ME, "k", context="a").entry is None
    contexts.store(Namespace("team"), ME, "secret", {"n": 3})
    assert value(contexts, "secret") == "not_found"
    assert value(contexts, "secret", context="team") == "not_found"


@pytest.mark.requirement("CTX-2")
def test_an_expired_entry_is_told_once_as_expired_and_is_gone(contexts: Contexts, clock: Held) -> None:
    contexts.store(NS, ME, "k", {"n": 1}, ttl_s=1)
    clock.now += 1_000
    assert value(contexts, "k") == "expired"
    clock.now -= 1_000
    assert value(contexts, "k") == "not_found"
    assert contexts.names(NS) == {}


@pytest.mark.requirement("CTX-2")
def test_storing_removes_what_has_expired(contexts: Contexts, clock: Held) -> None:
    contexts.store(NS, ME, "k", {}, ttl_s=1)
    clock.now += 2_000
    contexts.store(NS, ME, "other", {})
    assert value(contexts, "k") == "not_found"
    assert [x.key for x in contexts.entries(NS, ME)] == ["other"]


@pytest.mark.requirement("CTX-3")
def test_switching_hides_one_context_and_restores_it_whole(contexts: Contexts) -> None:
    contexts.store(NS, ME, "k", {"at": "default"})
    there = contexts.switch(NS, ME, "feature")
    assert (there.previous, there.loaded, there.dropped) == ("default", False, 0)
    assert value(contexts, "k") == "not_found"
    contexts.store(NS, ME, "k", {"at": "feature"})
    back = contexts.switch(NS, ME, "default")
    assert (back.previous, back.loaded) == ("feature", True)
    assert value(contexts, "k") == {"at": "default"}
    assert contexts.switch(NS, ME, "feature").loaded
    assert value(contexts, "k") == {"at": "feature"}


@pytest.mark.requirement("CTX-3")
def test_the_current_context_belongs_to_its_caller_and_survives_a_restart(tmp_path: Path, clock: Held) -> None:
    for run in range(2):
        store = open_store(tmp_path / "ovillo.db", WordAnalyzer())
        contexts = Contexts(store.contexts, Redactor(b"k" * 32, "off"), clock)
        if run == 0:
            contexts.switch(NS, ME, "feature")
        assert (contexts.current(NS, ME), contexts.current(NS, SHE)) == ("feature", "default")
        store.close()


@pytest.mark.requirement("CTX-3")
def test_a_context_stored_as_one_value_is_loaded_by_its_name(contexts: Contexts) -> None:
    contexts.store(NS, ME, "feature-x", {"files": ["a.py"]})
    assert contexts.switch(NS, ME, "feature-x", preserve_current=False).loaded
    assert value(contexts, "feature-x") == {"files": ["a.py"]}
    assert contexts.store(NS, ME, "k", {}, context="other-y").context == "other-y"
    assert contexts.switch(NS, ME, "other-y").loaded


@pytest.mark.requirement("CTX-4")
def test_without_preserving_only_the_callers_own_loose_entries_are_dropped(contexts: Contexts) -> None:
    contexts.switch(NS, ME, "work")
    contexts.switch(NS, SHE, "work")
    contexts.store(NS, ME, "loose", {})
    contexts.store(NS, ME, "timed", {}, ttl_s=600)
    contexts.store(NS, ME, "placed", {}, context="work")
    contexts.store(NS, SHE, "hers", {})
    assert contexts.switch(NS, ME, "default", preserve_current=False).dropped == 1
    assert [x.key for x in contexts.entries(NS, SHE)] == ["hers", "placed", "timed"]
    assert contexts.switch(NS, ME, "work").loaded


@pytest.mark.requirement("CTX-4")
def test_switching_to_the_current_context_drops_nothing(contexts: Contexts) -> None:
    contexts.store(NS, ME, "k", {"n": 1})
    done = contexts.switch(NS, ME, "default", preserve_current=False)
    assert (done.previous, done.loaded, done.dropped) == ("default", True, 0)
    assert value(contexts, "k") == {"n": 1}


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"in": value}
    return value


@pytest.mark.requirement("CTX-5")
def test_values_too_large_too_deep_or_no_objects_are_refused_and_nothing_is_stored(contexts: Contexts) -> None:
    contexts.store(NS, ME, "deep enough", nested(MAX_DEPTH))
    bad: list[tuple[Any, type[Exception]]] = [
        (nested(MAX_DEPTH + 1), LimitExceeded),
        (nested(100_000), LimitExceeded),
        ({"x": "y" * 300_000}, LimitExceeded),
        ({"x": float("nan")}, InvalidInput),
        ({"x": object()}, InvalidInput),
        ([1], InvalidInput),
        ("text", InvalidInput),
    ]
    for given_value, error in bad:
        with pytest.raises(error):
            contexts.store(NS, ME, "k", given_value)
    for key, ttl, context in (("", 1, None), ("a\nb", 1, None), ("x" * 201, 1, None), ("k", 0, None), ("k", 1, " ")):
        with pytest.raises(InvalidInput):
            contexts.store(NS, ME, key, {}, ttl_s=ttl, context=context)
    with pytest.raises(InvalidInput):
        contexts.switch(NS, ME, "\x00")
    assert [x.key for x in contexts.entries(NS, ME)] == ["deep enough"]


@pytest.mark.requirement("CTX-5")
def test_secrets_are_masked_before_they_are_stored(contexts: Contexts, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    contexts.store(NS, ME, "k", {"deep": [{"note": f"use {token} here"}]})
    assert "[redacted:" in str(value(contexts, "k"))
    assert all(token.encode() not in path.read_bytes() for path in tmp_path.iterdir())


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("aé😀 \n\"\\'", max_size=9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text("abñ", max_size=3), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.requirement("CTX-1")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text("abñ😀", max_size=5), JSON, max_size=5))
def test_any_json_object_comes_back_equal(contexts: Contexts, given_value: dict[str, Any]) -> None:
    contexts.store(NS, ME, "k", given_value)
    assert value(contexts, "k") == given_value
