"""The token that a form of a page carries, so that no page of somebody else can send one (OWASP: synchronizer token).

Owns making and checking it. That a cookie comes from an own page at all is checked before (``http.browser``).
"""

from __future__ import annotations

import hmac
import re
from collections.abc import Mapping
from secrets import token_bytes

from ovillo.model.errors import PermissionDenied

_OWN_COOKIE = re.compile(r"(?:^|;\s*)(ovillo_\d+=[^;]*)")
_CHARACTERS = 43


class FormTokens:
    """Tokens of one start of the server, one for each credential."""

    def __init__(self) -> None:
        self._secret = token_bytes(32)

    def token(self, headers: Mapping[str, str]) -> str:
        return hmac.digest(self._secret, _credential(headers).encode(), "sha256").hex()[:_CHARACTERS]

    def check(self, headers: Mapping[str, str], token: str) -> None:
        """Raises PermissionDenied."""
        if not hmac.compare_digest(self.token(headers).encode(), token.encode()):
            raise PermissionDenied(
                "The form was not made for you by this server, or the server was started again since.",
                hint="Go back, load the page again and send it once more.",
            )


def _credential(headers: Mapping[str, str]) -> str:
    cookies = "\n".join(sorted(_OWN_COOKIE.findall(headers.get("cookie", ""))))
    return "\n".join((headers.get("authorization", ""), headers.get("x-api-key", ""), cookies))
