"""What the adapter imports of the Claude Agent SDK, for tests where that is not installed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def fold_session_summary(
    before: Mapping[str, Any] | None, key: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    count = (before["data"]["lines"] if before else 0) + len(entries)
    return {"session_id": key["session_id"], "mtime": 0, "data": {"lines": count}}
