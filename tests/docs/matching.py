"""Whether something printed what a page shows. Owns the placeholders of the pages (CONTRIBUTING, "Pages").

``…`` stands for what differs each time: within a line for the rest of a word or any text, alone on a line for any lines.
Moments and measures need no placeholder: any moment of the same form fits, any number of the same unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

_MOMENT = r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?|(?<![\d:])\d\d:\d\d(?![\d:])"
_MEASURE = r"(?<![\w.])\d+(?:[.,]\d+)?(?= (?:µs|ms|s|min|h|bytes|KB|KiB|MB|MiB)\b)"
#: What differs each time and needs no placeholder -> what stands for it on both sides.
_DIFFERS = ((re.compile(_MOMENT), "MOMENT"), (re.compile(_MEASURE), "N"))
_PLACEHOLDER = re.compile(r"([\w-]*=?)…")


def differences(shown: str, printed: str) -> str | None:
    """None when ``printed`` is what is ``shown``, from first to last line; else both, to be read."""
    pattern = "\n".join(_line(line) for line in _tidy(shown))
    pattern = re.sub(r"(?:\A|\n)ANY-LINES(?=\n|\Z)", r"(?:\\n[^\\n]*)*", pattern)
    pattern = pattern if pattern.startswith("(?:\\n") else "\n" + pattern
    text = "\n" + "\n".join(_tidy(printed))
    if re.fullmatch(pattern, text):
        return None
    return f"the page shows:\n{_indented(shown)}\nprinted was:\n{_indented(printed)}"


def filled(command: str, printed: Sequence[str], meant: dict[str, str]) -> str:
    """``command`` with its placeholders filled: ``ses_…`` is the first word that begins so in the newest text that holds one.
    A bare ``…`` is what stands behind the same command there.

    ``meant`` remembers what each stood for: on one page, one thing.

    Raises:
        LookupError: when nothing printed begins so.
    """

    def value(match: re.Match[str]) -> str:
        beginning = match[1] or command[: match.start()].lstrip()
        if beginning not in meant:
            form = re.compile(rf"(?<![\w-]){re.escape(beginning)}([^\s\"'`,;)…]+)")
            found = next(filter(None, map(form.search, reversed(printed))), None)
            if found is None:
                raise LookupError(
                    f"nothing that was printed begins with {beginning!r}, which the page leaves to its reader"
                )
            meant[beginning] = found[0] if match[1] else found[1]
        return meant[beginning]

    return _PLACEHOLDER.sub(value, command)


def placeholders(text: str) -> set[str]:
    return set(_PLACEHOLDER.findall(text))


def json_differences(shown: Any, printed: Any, where: str = "$") -> str | None:
    """What is shown must be there; ``…`` in a text stands for anything, and fields that are not shown are not looked at."""
    if isinstance(shown, str) and isinstance(printed, str):
        return None if differences(shown, printed) is None else f"{where}: {printed!r} is not {shown!r}"
    if shown in ("…", printed):
        return None
    if isinstance(shown, dict) and isinstance(printed, dict):
        missing = [f"{where}.{name}: is not there" for name in shown if name not in printed]
        found = [json_differences(shown[name], printed[name], f"{where}.{name}") for name in shown if name in printed]
        return "; ".join([*missing, *filter(None, found)]) or None
    if isinstance(shown, list) and isinstance(printed, list):
        if shown and shown[-1] == "…":
            shown, printed = shown[:-1], printed[: len(shown) - 1]
        if len(shown) == len(printed):
            pairs = zip(shown, printed, strict=True)
            found = [json_differences(a, b, f"{where}[{at}]") for at, (a, b) in enumerate(pairs)]
            return "; ".join(filter(None, found)) or None
    return f"{where}: {json.dumps(printed, ensure_ascii=False)} is not {json.dumps(shown, ensure_ascii=False)}"


def _tidy(text: str) -> list[str]:
    """Lines without what differs: runs of spaces (widths of columns), moments, measures, empty lines at both ends."""
    for form, stands_for in _DIFFERS:
        text = form.sub(stands_for, text)
    return [re.sub(r" +", " ", line).rstrip() for line in text.strip("\n").split("\n")]


def _line(line: str) -> str:
    if line.strip() == "…":
        return "ANY-LINES"
    return r"[^\n]*".join(re.escape(part) for part in line.split("…"))


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.rstrip("\n").split("\n"))
