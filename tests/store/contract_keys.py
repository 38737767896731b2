"""What every store must do with API keys."""

from __future__ import annotations

import pytest

from ovillo.model.errors import Conflict, NotFound
from ovillo.model.records import Namespace
from ovillo.security.keys import AccessKey
from ovillo.store.protocol import KeyStore, Store
from tests.builders import NOON

KEY = AccessKey("abcdefghijkl", Namespace("team"), "Ana's laptop", b"\x01" * 32, NOON, "writer", (), NOON + 1000)
OTHER = AccessKey(
    "bbcdefghijkl",
    Namespace("other"),
    "build",
    b"\x02" * 32,
    NOON + 1,
    None,
    ("history:read", "admin"),
    owner="ana first",
)


@pytest.fixture
def keys(store: Store) -> KeyStore:
    return store.keys


@pytest.mark.requirement("ACCESS-1")
def test_a_key_comes_back_as_it_was_kept_and_tells_its_namespace(keys: KeyStore) -> None:
    keys.add_key(KEY)
    keys.add_key(OTHER)
    assert keys.get_key(KEY.id) == KEY
    assert keys.get_key(OTHER.id) == OTHER
    assert keys.get_key("zzzzzzzzzzzz") is None
    assert keys.list_keys() == [KEY, OTHER]
    assert keys.list_keys(Namespace("other")) == [OTHER]
    with pytest.raises(Conflict):
        keys.add_key(KEY)


@pytest.mark.requirement("ACCESS-1")
def test_the_first_revocation_and_the_earliest_end_of_a_key_stay(keys: KeyStore) -> None:
    keys.add_key(KEY)
    assert keys.end_key(KEY.id, expires_at=NOON + 5000).expires_at == NOON + 1000
    assert keys.end_key(KEY.id, expires_at=NOON + 500).expires_at == NOON + 500
    assert keys.end_key(KEY.id, revoked_at=NOON + 7).revoked_at == NOON + 7
    assert keys.end_key(KEY.id, revoked_at=NOON + 9).revoked_at == NOON + 7
    with pytest.raises(NotFound):
        keys.end_key("zzzzzzzzzzzz", revoked_at=NOON)


@pytest.mark.requirement("ACCESS-1")
def test_the_newest_use_of_a_key_is_kept_and_an_unknown_one_is_no_error(store: Store, keys: KeyStore) -> None:
    keys.add_key(KEY)
    keys.note_key_used(KEY.id, NOON + 9)
    keys.note_key_used(KEY.id, NOON + 3)
    keys.note_key_used("zzzzzzzzzzzz", NOON)
    used = keys.get_key(KEY.id)
    assert used is not None
    assert used.last_used_at == NOON + 9
    assert store.changes.last(KEY.namespace) == 0
