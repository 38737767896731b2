"""Saving, giving back and comparing states of sessions, through the service, in a real database."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.compression import compress
from ovillo.model.errors import IntegrityError, InvalidInput, LimitExceeded, NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace, SessionId
from ovillo.sessions import snapshot_encoding
from ovillo.store.protocol.snapshots import MAX_DELTAS
from tests.builders import delta, message
from tests.interfaces.opened import settings_for

A, B = SessionId("ses_a"), SessionId("ses_b")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"

_TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _TEXTS
)
_VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXTS, inner, max_size=4), max_leaves=20
)
_OBJECTS = st.dictionaries(_TEXTS, _VALUES, max_size=5)


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path_factory.mktemp("home")))
    opened.store.ingest.apply(NS, [delta(message("m1", 1, "one")), delta(message("m2", 1, "two", of="ses_b"))])
    yield opened
    opened.close()


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Services]:
    opened = open_services(settings_for(tmp_path))
    opened.store.ingest.apply(NS, [delta(message("m1", 1, "one")), delta(message("m2", 1, "two", of="ses_b"))])
    yield opened
    opened.close()


def grown(number: int) -> dict[str, Any]:
    return {"steps": [{"step": n, "said": f"this was step {n} of the work"} for n in range(number * 20)]}


def damage(services: Services, version: int, sql: str = "data = zeroblob(length(data))") -> None:
    with apsw.Connection(str(services.settings.database)) as db:
        db.execute(f"UPDATE snapshots SET {sql} WHERE version = ?", (version,))


def typed(value: Any) -> Any:
    """With the type beside each value: Python takes 1, 1.0 and True for equal."""
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return [typed(item) for item in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.requirement("SNAP-2")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=_OBJECTS, level=st.integers(0, 3))
def test_any_json_object_comes_back_equal_at_every_level(services: Services, content: Any, level: int) -> None:
    version = services.snapshots.save(NS, A, content, level).snapshot.version
    back = services.snapshots.restore(NS, A, version).content
    assert typed(back) == typed(content)
    assert list(back) == list(content)


@pytest.mark.requirement("SNAP-2")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(states=st.lists(st.tuples(_OBJECTS, st.integers(0, 3)), min_size=2, max_size=12))
def test_every_version_of_a_row_of_states_comes_back_also_after_recompressing(services: Services, states: Any) -> None:
    versions = [services.snapshots.save(NS, B, content, level).snapshot.version for content, level in states]
    for level in ("light", "medium", "aggressive"):
        services.maintenance.optimize(NS, level, B)
        for version, (content, _) in zip(versions, states, strict=True):
            assert typed(services.snapshots.restore(NS, B, version).content) == typed(content)


@pytest.mark.requirement("SNAP-3")
def test_growing_states_are_deltas_far_smaller_than_themselves_in_chains_of_bounded_length(fresh: Services) -> None:
    rows = [fresh.snapshots.save(NS, A, grown(n + 5)).snapshot for n in range(40)]
    keyframes = [row.version for row in rows if row.base is None]
    assert keyframes == [1, MAX_DELTAS + 2, 2 * MAX_DELTAS + 3]
    deltas = [row for row in rows if row.base is not None]
    assert all(row.base == row.version - 1 for row in deltas)
    assert sum(row.stored_bytes for row in deltas) < 0.02 * sum(row.plain_bytes for row in deltas)
    for number, row in enumerate(rows):
        assert fresh.snapshots.restore(NS, A, row.version).content == grown(number + 5)


@pytest.mark.requirement("SNAP-3")
def test_a_state_that_has_nothing_of_the_one_before_stands_alone(fresh: Services) -> None:
    noise = [compress(str(n).encode() * 99, 3).hex() for n in range(200)]
    fresh.snapshots.save(NS, A, grown(5))
    assert fresh.snapshots.save(NS, A, {"noise": noise}).snapshot.base is None
    assert fresh.snapshots.save(NS, A, grown(5), 0).snapshot.base is None


@pytest.mark.requirement("SNAP-3")
def test_the_beginning_of_a_large_state_is_found_again_at_every_level() -> None:
    """Match tables of the usual size lose sight of it: level 1 would store megabytes instead of a few bytes."""
    words = [f"{n * 7919 % 1299709:07d}" for n in range(600_000)]
    old = snapshot_encoding.plain_text({"words": words})
    new = snapshot_encoding.plain_text({"added": 1, "words": [*words, "end"]})
    base = snapshot_encoding.Base(1, old, snapshot_encoding.checksum(old))
    for level in (1, 2, 3):
        assert len(snapshot_encoding.encode(new, level, base).data) < len(new) * 0.005


@pytest.mark.requirement("SNAP-1")
def test_the_newest_version_comes_back_when_none_is_named(fresh: Services) -> None:
    for n in range(3):
        fresh.snapshots.save(NS, A, {"n": n})
    assert fresh.snapshots.restore(NS, A).content == {"n": 2}
    page = fresh.snapshots.versions(NS, A, limit=2)
    assert ([x.version for x in page.versions], page.total, page.before) == ([3, 2], 3, 2)
    rest = fresh.snapshots.versions(NS, A, before=page.before, limit=2)
    assert ([x.version for x in rest.versions], rest.before) == ([1], None)


def _save_many(data_dir: str, number: int) -> None:
    services = open_services(settings_for(Path(data_dir)))
    for k in range(12):
        services.snapshots.save(NS, A, {"from": number, "k": k, **grown(3)})
    services.close()


@pytest.mark.requirement("SNAP-1")
def test_processes_that_save_at_once_get_versions_of_their_own_and_all_come_back(tmp_path: Path) -> None:
    services = open_services(settings_for(tmp_path))
    services.store.ingest.apply(NS, [delta(message("m1", 1, "one"))])
    context = multiprocessing.get_context("spawn")
    savers = [context.Process(target=_save_many, args=(str(tmp_path), n)) for n in range(3)]
    for saver in savers:
        saver.start()
    for saver in savers:
        saver.join()
    assert [saver.exitcode for saver in savers] == [0, 0, 0]
    back = [services.snapshots.restore(NS, A, version).content for version in range(1, 37)]
    assert sorted((x["from"], x["k"]) for x in back) == [(n, k) for n in range(3) for k in range(12)]
    chains = [len(services.store.snapshots.chain(NS, A, version)) for version in range(1, 37)]
    assert max(chains) <= MAX_DELTAS + 1
    services.close()


@pytest.mark.requirement("SNAP-4")
@pytest.mark.parametrize(
    "how",
    [
        "data = zeroblob(length(data))",
        "data = substr(data, 1, length(data) - 1)",
        "data = x''",
        "data = 'text'",
        "plain_bytes = plain_bytes + 1",
        "plain_bytes = 1 << 40",
        "checksum = zeroblob(32)",
        "base = NULL",
    ],
)
def test_a_damaged_version_is_an_error_that_names_the_newest_sound_one(fresh: Services, how: str) -> None:
    for n in range(6):
        fresh.snapshots.save(NS, A, grown(n + 3))
    damage(fresh, 4, how)
    for version in (4, 5, 6, None):
        with pytest.raises(IntegrityError, match=r"version before it is 3\.") as caught:
            fresh.snapshots.restore(NS, A, version)
        assert f"Version {version or 6} of session ses_a" in str(caught.value)
    assert fresh.snapshots.restore(NS, A, 3).content == grown(5)


@pytest.mark.requirement("SNAP-4")
def test_what_is_saved_after_damage_is_sound_and_everything_else_too(fresh: Services) -> None:
    for n in range(4):
        fresh.snapshots.save(NS, A, grown(n + 3))
    damage(fresh, 1)
    with pytest.raises(IntegrityError, match="No version before it is sound"):
        fresh.snapshots.restore(NS, A)
    saved = fresh.snapshots.save(NS, A, grown(9)).snapshot
    assert (saved.version, saved.base) == (5, None)
    assert fresh.snapshots.restore(NS, A).content == grown(9)
    done = fresh.maintenance.optimize(NS, "aggressive")
    assert "4 damaged versions" in next(step.note for step in done.steps if step.name == "snapshots")
    assert fresh.snapshots.restore(NS, A, 5).content == grown(9)


@pytest.mark.requirement("SNAP-4")
def test_a_bomb_in_place_of_a_version_is_not_unpacked(fresh: Services) -> None:
    fresh.snapshots.save(NS, A, grown(3))
    bomb = compress(bytes(400_000_000), 3)
    with apsw.Connection(str(fresh.settings.database)) as db:
        db.execute("UPDATE snapshots SET data = ?, plain_bytes = 400000000", (bomb,))
    with pytest.raises(IntegrityError):
        fresh.snapshots.restore(NS, A)
    with apsw.Connection(str(fresh.settings.database)) as db:
        db.execute("UPDATE snapshots SET plain_bytes = 100")
    with pytest.raises(IntegrityError):
        fresh.snapshots.restore(NS, A)


def _nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"in": value}
    return value


@pytest.mark.requirement("SNAP-5")
def test_what_cannot_be_kept_is_refused_and_nothing_is_stored(fresh: Services, monkeypatch: pytest.MonkeyPatch) -> None:
    for wrong in ([1], "text", None, {"a": float("nan")}, {"a": [float("inf")]}, {1: "a"}, {"a": {2}}, {"a": 10**5000}):
        with pytest.raises(InvalidInput):
            fresh.snapshots.save(NS, A, wrong)
    with pytest.raises(InvalidInput, match="compression level"):
        fresh.snapshots.save(NS, A, {}, 4)
    with pytest.raises(LimitExceeded, match="deeper than 200"):
        fresh.snapshots.save(NS, A, _nested(50_000))
    with pytest.raises(LimitExceeded, match="deeper than 200"):
        fresh.snapshots.save(NS, A, _nested(201))
    with monkeypatch.context() as small:
        small.setattr(snapshot_encoding, "MAX_PLAIN_BYTES", 1_000)
        with pytest.raises(LimitExceeded, match="1,000 are kept"):
            fresh.snapshots.save(NS, A, {"a": "x" * 1_000})
    assert fresh.store.snapshots.count(NS, A) == 0
    assert fresh.snapshots.save(NS, A, _nested(200)).snapshot.version == 1
    assert fresh.snapshots.restore(NS, A).content == _nested(200)


@pytest.mark.requirement("SNAP-5")
def test_unknown_sessions_and_versions_are_not_found_with_what_there_is(fresh: Services) -> None:
    with pytest.raises(NotFound, match="ses_x"):
        fresh.snapshots.save(NS, SessionId("ses_x"), {})
    with pytest.raises(NotFound, match="No session"):
        fresh.snapshots.restore(NS, SessionId("ses_x"))
    with pytest.raises(NotFound, match="no saved version"):
        fresh.snapshots.restore(NS, A)
    fresh.snapshots.save(NS, A, {})
    with pytest.raises(NotFound, match=r"no version 2. It has 1 to 1\."):
        fresh.snapshots.restore(NS, A, 2)
    with pytest.raises(NotFound):
        fresh.snapshots.restore(Namespace("elsewhere"), A, 1)


@pytest.mark.requirement("SNAP-2")
def test_half_a_surrogate_pair_becomes_a_replacement_character_and_a_whole_one_its_character(fresh: Services) -> None:
    fresh.snapshots.save(NS, A, {"cut \ud83d": "\ude00 x", "whole": "\ud83d\ude00"})
    assert fresh.snapshots.restore(NS, A).content == {"cut \ufffd": "\ufffd x", "whole": "\U0001f600"}


@pytest.mark.requirement("SNAP-6")
def test_secrets_are_masked_wherever_they_stand_and_counted(fresh: Services) -> None:
    content = {"deep": [{"note": f"token {TOKEN}"}], TOKEN: 1, "password": "hunter2-Xk9!vQ", "plain": "kept"}
    saved = fresh.snapshots.save(NS, A, content, 0)
    assert saved.redactions["github_token"] == 2
    assert sum(saved.redactions.values()) == 3
    back = fresh.snapshots.restore(NS, A).content
    assert "[redacted:github_token:" in back["deep"][0]["note"]
    assert back["plain"] == "kept"
    fresh.close()
    kept = b"".join(path.read_bytes() for path in fresh.settings.data_dir.rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert b"hunter2-Xk9" not in kept


@pytest.mark.requirement("SNAP-7")
def test_saving_beside_a_mirrored_session_changes_nothing_of_it(fresh: Services) -> None:
    before = fresh.store.sessions.get(NS, A), fresh.store.sessions.messages(NS, A)
    fresh.snapshots.save(NS, A, {"plan": ["next"]})
    assert (fresh.store.sessions.get(NS, A), fresh.store.sessions.messages(NS, A)) == before


@pytest.mark.requirement("SNAP-2")
def test_a_real_session_saved_as_it_grew_comes_back_at_each_of_its_stages(fresh: Services, fixtures: Path) -> None:
    (transcript,) = list((fixtures / "claude-code").rglob("0672048c*.jsonl"))[:1]
    lines = [json.loads(line) for line in transcript.read_text("utf-8").splitlines()]
    stages = [lines[: len(lines) * n // 6] for n in range(1, 7)]
    saved = [fresh.snapshots.save(NS, A, {"lines": stage}) for stage in stages]
    assert not any(x.redactions for x in saved)
    for one, stage in zip(saved, stages, strict=True):
        assert fresh.snapshots.restore(NS, A, one.snapshot.version).content == {"lines": stage}
