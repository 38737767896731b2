"""Token buckets."""

from __future__ import annotations

import pytest

from ovillo.security.rate_limits import RateLimit, network_of


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.requirement("ACCESS-13")
def test_a_burst_passes_and_then_the_rate_holds() -> None:
    time = Time()
    limit = RateLimit(60, 5, time)
    assert [limit.take("a") for _ in range(5)] == [0.0] * 5
    assert limit.take("a") == pytest.approx(1.0)
    assert limit.take("b") == 0.0
    time.now += 1
    assert limit.take("a") == 0.0
    assert limit.take("a") > 0
    time.now += 3_600
    assert [limit.take("a") for _ in range(6)].count(0.0) == 5


@pytest.mark.requirement("ACCESS-13")
def test_a_refused_caller_is_let_in_after_the_time_it_was_told() -> None:
    time = Time()
    limit = RateLimit(7, 1, time)
    limit.take("a")
    wait = limit.take("a")
    for _ in range(50):
        limit.take("a")
    time.now += wait + 0.001
    assert limit.take("a") == 0.0


@pytest.mark.requirement("ACCESS-13")
def test_memory_is_bounded_whoever_comes() -> None:
    limit = RateLimit(60, 5, Time(), most=100)
    for number in range(10_000):
        limit.take(str(number))
    assert len(limit._buckets) == 100


@pytest.mark.requirement("ACCESS-13")
@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3::4", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, "unknown"),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_customer_count_as_one(address: str | None, network: str) -> None:
    assert network_of(address) == network
