"""API keys, over a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ovillo.model.errors import InvalidInput, NotFound
from ovillo.security.credentials import CredentialRefused
from ovillo.security.key_ring import KeyRing
from ovillo.security.keys import id_in, mint
from ovillo.security.principals import HISTORY_READ, ROLES
from ovillo.store.engine import open_store
from ovillo.store.protocol import Store
from tests.builders import NOON, WordAnalyzer

HOUR = 3_600_000
MINTED = mint()


class Time:
    """Both clocks, moved by hand."""

    def __init__(self) -> None:
        self.ms = NOON

    def clock(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000


@pytest.fixture
def time() -> Time:
    return Time()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = open_store(tmp_path / "ovillo.db", WordAnalyzer())
    yield opened
    opened.close()


@pytest.fixture
def ring(store: Store, time: Time) -> KeyRing:
    return _ring(store, time)


def _ring(store: Store, time: Time) -> KeyRing:
    return KeyRing(store.keys, store.secrets.get("access-keys"), time.clock, time.monotonic)


def _refused(call: Callable[[str], object], credential: str) -> str:
    with pytest.raises(CredentialRefused) as refused:
        call(credential)
    return refused.value.reason


@pytest.mark.requirement("ACCESS-2", "ACCESS-5")
def test_a_key_lets_its_holder_in_with_its_role_and_namespace(ring: KeyRing) -> None:
    kept, text = ring.create("team", "Ana", role="writer")
    principal = ring.look_up(text)
    assert (principal.name, principal.namespace, principal.key_id) == ("Ana", "team", kept.id)
    assert principal.scopes == ROLES["writer"]
    assert ring.known(text) == principal


@pytest.mark.requirement("ACCESS-2")
def test_nothing_of_the_secret_is_in_the_database(ring: KeyRing, tmp_path: Path, store: Store) -> None:
    kept, text = ring.create("team", "Ana", role="reader")
    store.close()
    secret = text.rpartition("_")[2]
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert kept.id.encode() in stored
    assert secret.encode() not in stored
    assert secret[:16].encode() not in stored


@pytest.mark.requirement("ACCESS-2")
@given(st.data())
def test_one_wrong_character_is_noticed_without_the_store(data: st.DataObject) -> None:
    key_id, text = MINTED
    assert id_in(text) == key_id
    at = data.draw(st.integers(0, len(text) - 1))
    other = data.draw(st.characters(exclude_characters=text[at]))
    assert id_in(text[:at] + other + text[at + 1 :]) is None


@pytest.mark.requirement("ACCESS-2")
@pytest.mark.parametrize("credential", ["", "ovk_", "x" * 100_000, "ovk_é", "\ud800", "ovk_a\n", "Bearer", "\0"])
def test_what_is_no_key_is_refused_and_never_fails(ring: KeyRing, credential: str) -> None:
    assert ring.known(credential) is None
    assert "no key" in _refused(ring.look_up, credential)


@pytest.mark.requirement("ACCESS-2")
def test_a_well_formed_key_of_another_server_is_refused(ring: KeyRing, tmp_path: Path, time: Time) -> None:
    _, stranger = mint()
    assert _refused(ring.look_up, stranger) == "No such key."
    elsewhere = open_store(tmp_path / "elsewhere.db", WordAnalyzer())
    kept, text = _ring(elsewhere, time).create("team", "Ana", role="reader")
    # The same row under another pepper: a copied table opens nothing.
    ring._records.add_key(kept)
    assert _refused(ring.look_up, text) == "No such key."
    elsewhere.close()


@pytest.mark.requirement("ACCESS-3")
def test_a_revoked_key_stops_at_once(ring: KeyRing) -> None:
    kept, text = ring.create("team", "Ana", role="reader")
    ring.look_up(text)
    ring.revoke("Ana")
    assert ring.known(text) is None
    assert _refused(ring.look_up, text) == "The key was revoked."
    assert ring.revoke(kept.id).revoked_at == kept.created_at


@pytest.mark.requirement("ACCESS-3")
def test_a_key_revoked_by_another_process_stops_within_a_second(ring: KeyRing, store: Store, time: Time) -> None:
    kept, text = ring.create("team", "Ana", role="reader")
    ring.look_up(text)
    _ring(store, time).revoke(kept.id)
    time.ms += 1_000
    assert ring.known(text) is None
    assert _refused(ring.look_up, text) == "The key was revoked."


@pytest.mark.requirement("ACCESS-3")
def test_a_reading_that_began_before_a_revocation_is_not_believed_after(store: Store, time: Time) -> None:
    class Slow(KeyRing):
        def _remember(self, *entry: object) -> None:
            self.revoke("Ana")
            super()._remember(*entry)  # type: ignore[arg-type]

    ring = Slow(store.keys, store.secrets.get("access-keys"), time.clock, time.monotonic)
    _, text = ring.create("team", "Ana", role="reader")
    ring.look_up(text)
    assert ring.known(text) is None


@pytest.mark.requirement("ACCESS-4")
def test_a_key_expires_while_it_is_remembered(ring: KeyRing, time: Time) -> None:
    _, text = ring.create("team", "Ana", role="reader", expires_at=NOON + 500)
    ring.look_up(text)
    time.ms += 500
    assert ring.known(text) is None
    assert _refused(ring.look_up, text) == "The key has expired."
    with pytest.raises(InvalidInput):
        ring.create("team", "Ana", role="reader", expires_at=NOON)


@pytest.mark.requirement("ACCESS-4")
def test_rotating_keeps_both_keys_alive_for_the_overlap(ring: KeyRing, time: Time) -> None:
    _, old = ring.create("team", "Ana", scopes=[HISTORY_READ], expires_at=NOON + 48 * HOUR)
    time.ms += HOUR
    kept, new, ended = ring.rotate("Ana", keep_ms=24 * HOUR)
    assert kept.expires_at == time.ms + 48 * HOUR
    assert ended.expires_at == time.ms + 24 * HOUR
    assert ring.look_up(old).scopes == ring.look_up(new).scopes == {HISTORY_READ}
    assert ring.look_up(old).key_id != ring.look_up(new).key_id
    time.ms += 24 * HOUR
    assert _refused(ring.look_up, old) == "The key has expired."
    assert ring.look_up(new)


@pytest.mark.requirement("ACCESS-4")
def test_rotating_without_overlap_ends_the_old_key_now(ring: KeyRing) -> None:
    kept, old = ring.create("team", "Ana", role="reader")
    ring.look_up(old)
    ring.rotate(kept.id)
    assert ring.known(old) is None
    with pytest.raises(InvalidInput, match="ended"):
        ring.rotate(kept.id)


@pytest.mark.requirement("ACCESS-4")
def test_last_use_is_written_within_a_minute_and_not_at_each_request(ring: KeyRing, store: Store, time: Time) -> None:
    kept, text = ring.create("team", "Ana", role="reader")
    seen = []
    for _ in range(10):
        ring.look_up(text)
        row = store.keys.get_key(kept.id)
        assert row is not None
        seen.append(row.last_used_at)
        time.ms += 10_000
    assert seen == [NOON] * 6 + [NOON + 60_000] * 4


@pytest.mark.requirement("ACCESS-5")
def test_rights_are_a_role_or_scopes_that_exist(ring: KeyRing) -> None:
    with pytest.raises(InvalidInput, match="either"):
        ring.create("team", "Ana")
    with pytest.raises(InvalidInput, match="either"):
        ring.create("team", "Ana", role="reader", scopes=[HISTORY_READ])
    with pytest.raises(InvalidInput, match="writer"):
        ring.create("team", "Ana", role="writr")
    with pytest.raises(InvalidInput, match=HISTORY_READ):
        ring.create("team", "Ana", scopes=["history:reed"])
    for namespace in ("", " a", "a\nb", "x" * 121):
        with pytest.raises(InvalidInput, match="namespace"):
            ring.create(namespace, "Ana", role="reader")
    with pytest.raises(InvalidInput, match="name"):
        ring.create("team", "  ", role="reader")


@pytest.mark.requirement("ACCESS-5")
def test_a_name_that_several_keys_have_is_not_guessed(ring: KeyRing) -> None:
    first, _ = ring.create("team", "Ana", role="reader")
    ring.create("other", "Ana", role="reader")
    with pytest.raises(InvalidInput, match=first.id):
        ring.revoke("Ana")
    with pytest.raises(NotFound):
        ring.revoke("Bea")
    assert {key.namespace for key in ring.list()} == {"team", "other"}
    assert [key.id for key in ring.list("team")] == [first.id]
