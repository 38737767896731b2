"""How many requests a caller may make: one token bucket for each.

Owns counting. Who is counted as one, and what a refused caller is told, is decided where requests come in.
"""

from __future__ import annotations

import ipaddress
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache

#: Callers remembered. Whoever falls out starts with a full bucket again.
_MOST = 10_000
#: A whole network of this size is given to one customer (RFC 6177): its addresses count as one.
_IPV6_PREFIX = 64


class RateLimit:
    """``per_minute`` requests on the long run, ``burst`` at once; thread-safe."""

    def __init__(
        self, per_minute: int, burst: int, monotonic: Callable[[], float] = time.monotonic, most: int = _MOST
    ) -> None:
        self._per_second = per_minute / 60
        self._burst = float(max(burst, 1))
        self._monotonic = monotonic
        self._most = most
        #: caller -> tokens left, and when that was; least lately seen first
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, caller: str) -> float:
        """0 when the request may pass, else the seconds until the next one may."""
        now = self._monotonic()
        with self._lock:
            tokens, at = self._buckets.get(caller, (self._burst, now))
            tokens = min(self._burst, tokens + (now - at) * self._per_second)
            passes = tokens >= 1
            self._buckets[caller] = (tokens - 1 if passes else tokens, now)
            self._buckets.move_to_end(caller)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        return 0.0 if passes else (1 - tokens) / self._per_second


@lru_cache(maxsize=4_096)
def network_of(address: str | None) -> str:
    """What counts as one caller among those who have not said who they are."""
    try:
        parsed = ipaddress.ip_address((address or "").partition("%")[0])
    except ValueError:
        return address or "unknown"
    if parsed.version == 4:
        return str(parsed)
    return str(ipaddress.ip_network((parsed, _IPV6_PREFIX), strict=False))
