"""A property whose value is built when it is first asked for, once, by whichever thread comes first.

Owns that only. ``functools.cached_property`` builds twice where two threads meet (Python 3.12 and later).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

T = TypeVar("T")


class built_once(Generic[T]):  # noqa: N801 - stands where ``property`` would
    def __init__(self, build: Callable[[Any], T]) -> None:
        self._build = build
        self._name = build.__name__
        self.__doc__ = build.__doc__
        # This lock is for one property: building it asks for others, never for itself.
        self._lock = threading.RLock()

    @overload
    def __get__(self, owner: None, kind: type) -> Self: ...

    @overload
    def __get__(self, owner: object, kind: type) -> T: ...

    def __get__(self, owner: object | None, kind: type) -> Self | T:
        """Called until the value stands in the object's own dictionary, which comes first from then on."""
        if owner is None:
            return self
        built = vars(owner)
        with self._lock:
            if self._name not in built:
                built[self._name] = self._build(owner)
            value: T = built[self._name]
        return value
