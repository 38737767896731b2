"""What every store must do so that one process at a time does what must not be done twice."""

from __future__ import annotations

import threading

import pytest

from ovillo.store.protocol import LeaseStore, Store


@pytest.fixture
def leases(store: Store) -> LeaseStore:
    return store.leases


@pytest.mark.requirement("STORE-44")
def test_a_lease_has_one_holder_and_is_given_up_with_its_block(leases: LeaseStore) -> None:
    with leases.hold("scan") as first, leases.hold("scan") as second, leases.hold("embed") as other:
        assert (first, second, other) == (True, False, True)
    with leases.hold("scan") as again:
        assert again
    with pytest.raises(ValueError, match="broken"), leases.hold("scan"):
        raise ValueError("broken")
    with leases.hold("scan") as again:
        assert again


@pytest.mark.requirement("STORE-44")
def test_who_may_wait_gets_the_lease_when_it_is_given_up(leases: LeaseStore) -> None:
    held, waiting, got = threading.Event(), threading.Event(), list[bool]()

    def hold() -> None:
        with leases.hold("scan"):
            held.set()
            waiting.wait(10)

    def wait() -> None:
        waiting.set()
        with leases.hold("scan", wait_s=10) as ours:
            got.append(ours)

    threads = [threading.Thread(target=work) for work in (hold, wait)]
    threads[0].start()
    assert held.wait(10)
    threads[1].start()
    for thread in threads:
        thread.join(20)
    assert got == [True]
