"""Recorded text made safe to print: history is untrusted, and a terminal or page obeys what it is sent.

Owns which characters are taken out or made visible. Knows no output format.
"""

from __future__ import annotations

import re

#: Terminal sequences: CSI, OSC (ended by BEL or ST), other two-character escapes, and 8-bit CSI.
_SEQUENCES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
#: Direction overrides and isolates, which can make text read as other than it is; and other invisible marks.
_MISLEADING = re.compile(r"[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\ufeff]")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    """``text`` with line breaks and tabs kept, terminal sequences dropped, misleading characters named, other control
    characters shown as U+FFFD."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    text = _SEQUENCES.sub("", text)
    text = _MISLEADING.sub(lambda found: f"<U+{ord(found.group()):04X}>", text)
    return _CONTROLS.sub("\ufffd", text)


def one_line(text: str, limit: int) -> str:
    """The words of ``text`` on one line of at most ``limit`` characters."""
    line = " ".join(printable(text[: limit * 8]).split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
