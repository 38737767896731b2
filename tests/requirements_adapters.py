"""Promises about the adapters for SDKs of agents (``tests.requirements``)."""

from __future__ import annotations

ADAPT: dict[str, tuple[str, str]] = {
    "ADAPT-1": ("Adapters keep the contracts that the SDKs themselves test", "issue 12 Python"),
    "ADAPT-2": ("What an adapter keeps is found, listed and shown like every session", "issue 12 Python"),
    "ADAPT-3": ("No server has to run, and several processes may keep one session at once", "issue 12 Python"),
    "ADAPT-4": ("Clearing and deleting do what the SDK expects, and lose nothing that was said", "issue 12 Python"),
    "ADAPT-5": ("Where an SDK is missing one line says so, and what to run", "issue 12 Python"),
    "ADAPT-6": ("Secrets are masked in what an adapter keeps", "DESIGN 15"),
    "ADAPT-8": ("The examples of the adapters run: an agent goes on where another process ended", "issue 12 Python"),
    "ADAPT-7": (
        "Lines of a transcript that are handed over say what its file says, and are one session with it",
        "issue 12 Python",
    ),
}
