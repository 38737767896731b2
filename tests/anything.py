"""Any text and any JSON that a client may hand in, and what it must be when it comes out again."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

TEXTS = st.text(
    st.characters(categories=("Cs",))
    | st.characters()
    | st.sampled_from("\0\x07\x1b\x7f\x85\u2028\ufeff\uffff😀\r\n\t"),
    max_size=40,
)
INTEGERS = st.integers(-(2**70), 2**70) | st.sampled_from([2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**300])
FLOATS = st.floats(allow_nan=False, allow_infinity=False) | st.sampled_from([-0.0, 5e-324, 1e22, 1.0])
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FLOATS | TEXTS,
    lambda x: st.lists(x, max_size=4) | st.dictionaries(TEXTS, x, max_size=4),
    max_leaves=12,
)


def whole(value: Any) -> Any:
    """What comes out."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    return [whole(item) for item in value] if isinstance(value, list) else value


def same(found: Any, given_value: Any) -> bool:
    """Equal value by value, with type and sign: ``1``, ``1.0`` and ``True`` differ, and so do ``0.0`` and ``-0.0``."""
    return repr(plain(found)) == repr(plain(whole(given_value)))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return sorted(((key, plain(item)) for key, item in value.items()), key=lambda pair: pair[0])
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value
