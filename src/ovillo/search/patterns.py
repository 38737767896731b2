"""Regular expressions over texts: RE2 only, so that no pattern can hang the server.

Owns compiling, and the literal pieces of a pattern that let the index narrow the texts down.
"""

from __future__ import annotations

import re2

from ovillo.model.errors import InvalidInput

_MEMORY = 16 << 20
_SPECIAL = frozenset(".^$[](){}|?*+\\")
_MIN_LITERAL = 3


def compile_pattern(pattern: str) -> re2._Regexp:
    """Raises InvalidInput with RE2's reason."""
    options = re2.Options()
    options.max_mem = _MEMORY
    options.log_errors = False
    options.never_capture = True
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args and isinstance(error.args[0], bytes) else str(error)
        raise InvalidInput(
            f"The regular expression /{pattern}/ cannot be used: {reason}.",
            hint="Back-references and look-around are not in RE2; \\d \\w [a-z] + * ? {n} ( ) | are.",
        ) from error


def literals(pattern: str) -> list[str]:
    """Texts that every match must hold; empty when the pattern has alternatives, options or none."""
    if "|" in pattern or "(?" in pattern:
        return []
    found: list[str] = []
    run: list[str] = []
    depth = i = 0

    def end() -> None:
        if len(run) >= _MIN_LITERAL and not depth:
            found.append("".join(run))
        run.clear()

    while i < len(pattern):
        c = pattern[i]
        if c == "\\" and i + 1 < len(pattern):
            i += 1
            if pattern[i].isalnum():
                end()
            else:
                run.append(pattern[i])
        elif c in "?*{":
            if run:
                run.pop()
            end()
            if c == "{":
                i = max(i, pattern.find("}", i))
        elif c == "[":
            end()
            i = max(i, pattern.find("]", i + 2))
        elif c in "()":
            # A group may be repeated or optional: what stands in it promises nothing.
            end()
            depth += 1 if c == "(" else -1
        elif c in _SPECIAL:
            end()
        else:
            run.append(c)
        i += 1
    end()
    return found
