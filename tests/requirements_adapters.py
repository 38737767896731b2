"""Promises about the adapters for SDKs of agents (``tests.requirements``)."""

from __future__ import annotations

ADAPT: dict[str, tuple[str, str]] = {
    "ADAPT-1": ("Adapters keep the contracts that the SDKs themselves test", "issue 12 Python"),
}
