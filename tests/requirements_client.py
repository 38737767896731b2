"""Promises about the Python client (``tests.requirements``)."""

from __future__ import annotations

CLIENT: dict[str, tuple[str, str]] = {
    "CLIENT-1": ("Recording, reading, searching, asking from Python, sync and async, typed", "issue 12 Python"),
    "CLIENT-2": ("What is not answered is sent again with its key, and stored once", "issue 12 Python"),
    "CLIENT-3": ("Changes are followed over breaks without a gap", "issue 12 Python"),
    "CLIENT-4": ("Refusals are the server's errors; the own token goes to the own server only", "DESIGN 15, 16"),
    "CLIENT-5": ("Examples run", "issue 12 Python"),
}
