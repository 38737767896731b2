"""What other packages find in texts that the rules do not know (entry points ``ovillo.redactors``).

Owns asking them and believing nothing of what they answer: places that are none are left out, and a finder that raises
costs what it would have found in that text. Masking is ``redaction``'s; it goes on with the rules in any case.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import cache

from ovillo.model.plugins import Unfit, loaded, package_of

_log = logging.getLogger(__name__)

#: Takes a text and gives the places of secrets in it: begin, end and what kind of secret it is.
SecretFinder = Callable[[str], Iterable[tuple[int, int, str]]]
#: With their names, packages and versions.
Finders = tuple[tuple[str, SecretFinder], ...]

_GROUP = "ovillo.redactors"
#: What a marker may hold (``redaction``).
_KIND = re.compile(r"[a-z_0-9]{1,40}")
#: Said once a process.
_failed: set[str] = set()
_TRIED_WITH = "There is no secret in this text."


@cache
def secret_finders() -> Finders:
    """Those of other packages by name, without the broken ones. Loaded once: every redactor of a process has the same."""
    found = loaded(_GROUP, _fitting)
    return tuple((f"{name} of {package_of(_GROUP, name)}", finder) for name, finder in found.items())


def found_by(finders: Finders, data: bytes) -> list[tuple[int, int, str]]:
    """Places in ``data`` (bytes of UTF-8), with their kinds."""
    text = data.decode("utf-8", "surrogatepass")
    found = []
    for name, finder in finders:
        try:
            spans = [span for span in finder(text) if _is_place(span, text)]
        except Exception as error:  # noqa: BLE001  Boundary: another package's code; the text itself is never logged.
            if name not in _failed:
                _failed.add(name)
                _log.warning(
                    "the redactor %s fails on some texts (%s)", name.partition(" of ")[0], type(error).__name__
                )
            continue
        for begin, end, kind in spans:
            first = len(text[:begin].encode("utf-8", "surrogatepass"))
            found.append((first, first + len(text[begin:end].encode("utf-8", "surrogatepass")), kind))
    return found


def _is_place(span: tuple[int, int, str], text: str) -> bool:
    begin, end, kind = span
    return 0 <= begin < end <= len(text) and _KIND.fullmatch(kind) is not None


def _fitting(name: str, thing: object) -> SecretFinder:
    if not callable(thing):
        raise Unfit("it is no function that takes a text and gives places of secrets")
    for _ in thing(_TRIED_WITH):
        raise Unfit("it finds a secret where there is none")
    return thing
