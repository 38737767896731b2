"""Who is asking, and what they may do.

Owns principals and scopes. How somebody proves who they are is in ``keys`` and ``tokens``.
"""

from __future__ import annotations

from ovillo.model.dataclass import dataclass
from ovillo.model.errors import PermissionDenied
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace

HISTORY_READ = "history:read"
#: Make, change, append to and remove recorded sessions, and what hangs on them (summaries, snapshots, links, time).
SESSIONS_WRITE = "sessions:write"
CONTEXT_READ = "context:read"
CONTEXT_WRITE = "context:write"
#: Status, metrics, maintenance, keys.
ADMIN = "admin"

SCOPES = (HISTORY_READ, SESSIONS_WRITE, CONTEXT_READ, CONTEXT_WRITE, ADMIN)

#: Named sets of scopes.
ROLES = {
    "reader": frozenset({HISTORY_READ, CONTEXT_READ}),
    "writer": frozenset({HISTORY_READ, SESSIONS_WRITE, CONTEXT_READ, CONTEXT_WRITE}),
    "admin": frozenset(SCOPES),
}


@dataclass(frozen=True, slots=True)
class Principal:
    """The namespace of every store call comes from here, never from an argument."""

    name: str
    namespace: Namespace
    scopes: frozenset[str]
    #: Public id of the key it came with, or ``jwt:`` and the issuer of the token; the local user has none.
    key_id: str | None = None
    #: Whose personal memories theirs are, where a name may be anybody's: see ``owner``.
    identity: str | None = None

    @property
    def owner(self) -> str:
        """To whom belongs what they keep for themselves. A name is no proof: keys are called whatever who makes them likes."""
        return self.identity or self.name


#: The user whose data this is: the command line, stdio, and who holds the token of the data folder.
LOCAL = Principal("local", DEFAULT_NAMESPACE, ROLES["admin"])
#: Whoever reaches a server without access control: any account of the machine. Not the local user, whose files are not
#: theirs to name.
UNASKED = Principal("anonymous", DEFAULT_NAMESPACE, ROLES["admin"], "none")
#: Nobody in particular, who may do nothing: requests to public paths. No namespace has an empty name.
ANYONE = Principal("anyone", Namespace(""), frozenset())
#: Personal memories belong to a name: no key and no token may come under one of these.
RESERVED_NAMES = frozenset({LOCAL.name, UNASKED.name, ANYONE.name})


class MissingScope(PermissionDenied):
    """``scope`` is what the principal would need."""

    def __init__(self, principal: Principal, scope: str, doing: str = "do this") -> None:
        super().__init__(
            f"{principal.name} may not {doing}: it needs the scope {scope}.",
            hint="Use a key or token with that scope; `ovillo key create --help` lists scopes and roles.",
        )
        self.scope = scope


def require_scope(principal: Principal, scope: str, doing: str = "do this") -> None:
    """Raises MissingScope, a PermissionDenied that names the scope; ``doing`` is what was tried."""
    if scope not in principal.scopes:
        raise MissingScope(principal, scope, doing)
