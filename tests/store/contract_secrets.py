"""What every store must do with secrets of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from ovillo.store.protocol import SecretStore, Store


@pytest.fixture
def secrets(store: Store) -> SecretStore:
    return store.secrets


@pytest.mark.requirement("STORE-42")
def test_a_secret_is_made_once_whoever_asks_and_is_another_under_another_name(secrets: SecretStore) -> None:
    with ThreadPoolExecutor(8) as pool:
        (key,) = set(pool.map(secrets.get, ["cursors"] * 16))
    assert len(key) == 32
    assert secrets.get("audit") != key
    assert secrets.get("cursors") == key
