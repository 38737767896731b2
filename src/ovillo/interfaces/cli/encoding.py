"""Any locale and any pipe: names and arguments are UTF-8, and what a stream cannot show is written in plain letters.

Owns both. Files and JSON do not pass here: they are UTF-8, or ASCII with escapes.
"""

from __future__ import annotations

import codecs
import io
import os
import sys
import unicodedata

_IN_PLAIN_LETTERS = "ovillo.plain"
_SIGNS = {
    "…": "...",
    "–": "-",
    "—": "-",
    "‘": "'",
    "’": "'",
    "“": '"',
    "”": '"',
    "«": '"',
    "»": '"',
    "•": "*",
    "·": "-",
    "→": "->",
    "↳": ">",
    "⑂": "Y",
    "✓": "ok",
    "✗": "x",
    "━": "-",
    "─": "-",
    "│": "|",
    "┃": "|",
    "├": "|",
    "└": "`",
    "\ufffd": "?",
}


def use_utf8() -> None:
    """Where the locale makes Python take names of files and arguments for something else, the program begins again in
    Python's UTF-8 mode: the histories of agents are UTF-8 everywhere. The encoding of the terminal stays."""
    if sys.flags.utf8_mode or sys.getfilesystemencoding().lower() in {"utf-8", "utf8"} or os.name != "posix":
        return
    shown = (sys.stdout and sys.stdout.encoding) or "utf-8"
    environment = dict(os.environ)
    # ASCII is what "C" is called, not what a terminal of today is limited to.
    if codecs.lookup(shown).name != "ascii":
        environment.setdefault("PYTHONIOENCODING", f"{shown}:replace")
    os.execve(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]], environment)


def fit_streams() -> None:
    """No character ends a command: a stream that cannot show one gets the nearest letters instead."""
    codecs.register_error(_IN_PLAIN_LETTERS, _plain)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=_IN_PLAIN_LETTERS)


def _plain(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_letters(sign) for sign in error.object[error.start : error.end]), error.end


def _letters(sign: str) -> str:
    if sign in _SIGNS:
        return _SIGNS[sign]
    near = unicodedata.normalize("NFKD", sign).encode("ascii", "ignore").decode("ascii")
    return near if near.isprintable() and near else "" if unicodedata.combining(sign) else "?"
