"""Frozen, slotted dataclasses whose methods are compiled when the first of them is called.

Owns only when that is: fields, ``replace``, equality, pickling and errors are those of ``dataclasses``, which compiles six
methods for each class (0.3 ms). Eighty classes and more are defined before a command answers, and most of them have no instance
there: a seventh of the start (ADR 0021). For modules that a start imports; elsewhere the standard one is as good.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:

    def dataclass(*, frozen: bool, slots: bool) -> Callable[[type], type]:
        """Called as the standard one is, so that type checkers take it for that."""
        assert frozen
        assert slots
        return _deferred


__all__ = ["dataclass"]

#: What is compiled together: most classes that have instances are never compared or shown.
_TOGETHER = (("__init__",), ("__repr__", "__eq__", "__hash__"))


def _deferred(cls: type) -> type:
    body = {name: value for name, value in vars(cls).items() if name not in ("__dict__", "__weakref__")}
    # The standard one would write down the signature in its place, which takes as long as a method.
    cls.__doc__ = cls.__doc__ or cls.__name__
    made: type = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, method in _SAME_FOR_ALL.items():
        setattr(made, name, method)
    for names in _TOGETHER:
        missing = [name for name in names if name not in body]
        compile_methods = _compiler(cls, body, made, missing)
        for name in missing:
            setattr(made, name, _first_call(made, name, compile_methods))
    return made


def _compiler(cls: type, body: dict[str, Any], made: type, names: list[str]) -> Callable[[], None]:
    """Of these methods, as the standard decorator makes them for a class with this body."""

    def compile_methods() -> None:
        whole = type(cls)(cls.__name__, cls.__bases__, {**body, "__qualname__": cls.__qualname__})
        is_init = "__init__" in names
        standard: type = dataclasses.dataclass(frozen=True, init=is_init, repr=not is_init, eq=not is_init)(whole)
        for name in names:
            setattr(made, name, vars(standard)[name])

    return compile_methods


def _first_call(made: type, name: str, compile_methods: Callable[[], None]) -> Callable[..., Any]:
    def first(*args: Any, **options: Any) -> Any:
        compile_methods()
        return getattr(made, name)(*args, **options)

    return first


def _refuse_set(self: object, name: str, value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_SAME_FOR_ALL = {
    "__setattr__": _refuse_set,
    "__delattr__": _refuse_delete,
    "__getstate__": _state,
    "__setstate__": _set_state,
}
