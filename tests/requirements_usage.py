"""Promises about what models cost (``tests.requirements``)."""

from __future__ import annotations

USAGE: dict[str, tuple[str, str]] = {
    "USAGE-1": ("A row an answer with its tokens and cost, what forks copied once", "DESIGN 21"),
    "USAGE-2": ("Sums equal the clients' own, forks, sub-agents and repeated lines included", "DESIGN 21; issue 12"),
    "USAGE-3": (
        "Prices offline, from a kept package or a file of one's own, kinds of tokens and tiers apart",
        "DESIGN 21",
    ),
    "USAGE-4": ("A model without a price is named and not counted as zero", "DESIGN 21"),
    "USAGE-5": ("A cost that the client wrote down comes first, and is said", "issue 12"),
    "USAGE-6": ("By day, week, month, session, project, model, client, branch; local days; ranges of time", "issue 12"),
    "USAGE-7": ("Blocks of five hours, of each client by itself", "issue 12"),
    "USAGE-8": ("By command as table with bars, JSON, CSV and live, and over REST", "issue 12"),
    "USAGE-9": ("A status line for Claude Code that never fails", "issue 12"),
}
