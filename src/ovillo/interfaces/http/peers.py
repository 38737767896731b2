"""Which account of this machine is at the other end of a loopback connection, where the system tells (Linux).

Owns asking; what is made of it, its caller decides. Nobody is told apart by it who comes through a proxy or a tunnel.
"""

from __future__ import annotations

import ipaddress
import sys
from pathlib import Path

from ovillo.interfaces.http.asgi import Scope

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
_LOCAL, _REMOTE, _ACCOUNT = 1, 2, 7


def account_of_peer(scope: Scope) -> int | None:
    """Its user id; ``None`` when it cannot be told. Reads files."""
    client, server = scope.get("client"), scope.get("server")
    if not client or not server or server[1] is None or not sys.platform.startswith("linux"):
        return None
    try:
        ends = set(zip(_written(*client), _written(*server), strict=True))
        for table in _TABLES:
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                fields = line.split()
                if (fields[_LOCAL], fields[_REMOTE]) in ends:
                    return int(fields[_ACCOUNT])
    except (OSError, ValueError, IndexError):
        return None
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
