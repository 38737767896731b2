"""API keys: their format, what is stored of them, and what they allow.

Owns the form ``ovk_ID_SECRETCHECK``: a public id of 12 characters, a secret of 52 (256 random bits) and a checksum of
6, in lower-case base32, so that a key survives a double click, a shell and a spoken line. Only an HMAC of it is kept.
The checksum saves look-ups of mistyped keys; it proves nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from typing import Protocol

from ovillo.model.dataclass import dataclass
from ovillo.model.records import Namespace
from ovillo.security.principals import ROLES, Principal

PREFIX = "ovk_"
_ID_BYTES = 8
_ID_CHARS = 12
_SECRET_BYTES = 32
_CHECK_CHARS = 6
_FORM = re.compile(rf"{PREFIX}([a-z2-7]{{{_ID_CHARS}}})_([a-z2-7]{{52}})([a-z2-7]{{{_CHECK_CHARS}}})")


@dataclass(frozen=True, slots=True)
class AccessKey:
    """The stored part of a key. Times are milliseconds since 1970 UTC."""

    id: str
    namespace: Namespace
    name: str
    #: HMAC-SHA256 of the whole key under the server's pepper.
    digest: bytes
    created_at: int
    #: A name in ``ROLES``, with its current scopes; ``None`` when ``scopes`` were given one by one.
    role: str | None = None
    scopes: tuple[str, ...] = ()
    expires_at: int | None = None
    revoked_at: int | None = None
    #: Accurate to a minute: it is not written with each request.
    last_used_at: int | None = None
    #: Whose personal memories are read with it: those of the key it replaced, else its own.
    owner: str = ""

    @property
    def granted(self) -> frozenset[str]:
        return ROLES.get(self.role, frozenset()) if self.role is not None else frozenset(self.scopes)

    @property
    def principal(self) -> Principal:
        return Principal(self.name, self.namespace, self.granted, self.id, self.owner or self.name)

    def is_live(self, now: int) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


class KeyRecords(Protocol):
    """What storing keys requires of a store. Keys are the one subject looked up before the namespace is known, since a
    key determines it."""

    def add_key(self, key: AccessKey) -> None:
        """Raises Conflict when the id exists."""
        ...

    def get_key(self, key_id: str) -> AccessKey | None: ...

    def list_keys(self, namespace: Namespace | None = None) -> list[AccessKey]:
        """Of one namespace or of all, oldest first, including revoked and expired ones."""
        ...

    def end_key(self, key_id: str, *, revoked_at: int | None = None, expires_at: int | None = None) -> AccessKey:
        """Revoke it, or let it expire. A revoked key stays as it is, and an earlier expiry stays. Raises NotFound."""
        ...

    def note_key_used(self, key_id: str, at: int) -> None:
        """Store the latest time of use; does nothing for a key that is gone."""
        ...


def mint() -> tuple[str, str]:
    """A new key: its public id and the whole text, which is displayed once and never stored."""
    key_id = _base32(secrets.token_bytes(_ID_BYTES))[:_ID_CHARS]
    secret = _base32(secrets.token_bytes(_SECRET_BYTES))
    return key_id, f"{PREFIX}{key_id}_{secret}{_check(key_id, secret)}"


def id_in(text: str) -> str | None:
    """The public id of text with the format of a key and a correct checksum; else ``None``."""
    form = _FORM.fullmatch(text)
    return form[1] if form and form[3] == _check(form[1], form[2]) else None


def digest_of(pepper: bytes, text: str) -> bytes:
    return hmac.digest(pepper, text.encode(), "sha256")


def same(one: bytes, other: bytes) -> bool:
    """Compares in constant time."""
    return hmac.compare_digest(one, other)


def _check(key_id: str, secret: str) -> str:
    return _base32(hashlib.sha256(f"{key_id}_{secret}".encode()).digest())[:_CHECK_CHARS]


def _base32(data: bytes) -> str:
    return base64.b32encode(data).decode().rstrip("=").lower()
