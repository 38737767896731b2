"""Which account of this machine is at the other end of a loopback connection, where the system tells (Linux).

Owns asking; what is made of it, its caller decides. Nobody is told apart by it who comes through a proxy or a tunnel.

The tables give an end that its program has closed already to root, or have it no more: whoever closes at once what they
asked through must not pass for root, nor for somebody elsewhere.
"""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path

from ovillo.interfaces.http.asgi import Scope

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL, _REMOTE, _STATE, _ACCOUNT, _INODE = 1, 2, 3, 7, 9
_ESTABLISHED = "01"
#: The inode of an end that no program holds.
_NONE = "0"
#: The account of such an end; no account has this number.
NOBODY = -1


def account_of_peer(scope: Scope) -> int | None:
    """Its user id; ``NOBODY`` when it is gone; ``None`` when it cannot be told. Reads files."""
    client, server = scope.get("client"), scope.get("server")
    if not server or server[1] is None or not sys.platform.startswith("linux"):
        return None
    if not client:
        # Reset before it was taken up: by then the system has forgotten who it was.
        return NOBODY
    try:
        theirs = set(zip(_written(*client), _written(*server), strict=True))
        if (fields := _entry(theirs)) is not None:
            return int(fields[_ACCOUNT]) if fields[_INODE] != _NONE else NOBODY
        # Elsewhere, as behind a bridge to another system; but only if it is there still: our own end, looked at after
        # theirs, knows.
        fields = _entry({(local, remote) for remote, local in theirs})
        return None if fields is not None and fields[_STATE] == _ESTABLISHED else NOBODY
    except (OSError, ValueError, IndexError):
        return None


def _entry(ends: set[tuple[str, str]]) -> list[str] | None:
    """The line of a connection with one of these pairs of a local and a remote end."""
    for table in _TABLES:
        for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
            fields = line.split()
            if (fields[_LOCAL], fields[_REMOTE]) in ends:
                return fields
    return None


def _written(host: str, port: int) -> tuple[str, str]:
    """An end of a connection as the tables have it, plain and as an IPv4 address inside IPv6."""
    address = ipaddress.ip_address(host)
    inside = bytes(10) + b"\xff\xff" + address.packed if address.version == 4 else address.packed
    return f"{_hex(address.packed)}:{port:04X}", f"{_hex(inside)}:{port:04X}"


def _hex(packed: bytes) -> str:
    """Four bytes at a time, in the order of this machine."""
    words = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
