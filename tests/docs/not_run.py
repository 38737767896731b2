"""Commands of the pages that are not run as they stand, each with the reason. What is not here is run, or the test fails."""

from __future__ import annotations

import re

#: Beginning of a command -> why it is not run.
NOT_RUN = {
    "make test": "it runs this test",
    "sqlcipher": "it may not be there; tests/faults/test_backup.py opens a backup in its way",
    "ovillo browse": "it needs a terminal; tests/interfaces/test_browse.py opens it on one",
    "pip install": "it would change the machine's Python; CI installs from the same locks, and the wheel in tests/packages",
    "pipx": "the same; tests/packages/test_wheel.py installs the wheel with it",
    "uv tool": "the same",
    "docker": "it may not be there; tests/packages/test_container.py does the steps of the image",
    "git pull": "the checkout of the tests stays what it is",
}

#: Foreign command -> what is run in its place (``stand_ins/``).
STANDS_IN = {
    "claude": "an MCP client that is given the entry this line adds; at a session, nothing (tests/clients does that)",
    "codex": "the same",
    "gemini": "the same",
    "ssh": "the command runs over another home folder of this machine",
    "scp": "the file is copied into that folder",
    "less": "cat: there is no terminal to turn pages on",
    "ovillo open": "the browser is a program that follows the link and must be given a page",
    "curl": "where it is missing: a program that makes the same request",
}

#: Commands that ask on a terminal; there is nobody to be asked, so that ``--yes`` is added.
ASKS = re.compile(
    r"^ovillo (?:doctor --repair|forget (?:session|project|source|excluded)|restore|session delete|(?:service )?(?:un)?install)\b"
)
