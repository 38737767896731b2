"""The program whose histories a reader reads, as far as others meet it: its environment, its MCP calls, its start.

Owns the shape of these facts; each reader states its own beside what it reads, and nobody else names a client.
"""

from __future__ import annotations

from ovillo.model.dataclass import dataclass

#: Told by a name, readers need not be loaded to see that no client has set one.
SESSION_VARIABLE_ENDS = "_ID"


@dataclass(frozen=True, slots=True)
class Program:
    """How a person starts the client: at a session that is there, and anew with a first prompt.

    In ``resume`` and ``begin`` stand ``{id}``, ``{folder}`` and ``{prompt}`` for the session's whole id, its folder and what to
    say first. Source: each client, run (docs/reference/evidence.md)."""

    command: str
    resume: tuple[str, ...]
    begin: tuple[str, ...]
    #: Whether it finds a session only from the session's own folder.
    at_home_only: bool = False


@dataclass(frozen=True, slots=True)
class Client:
    """``Client()`` is one of which nothing is known but its files."""

    #: Variables that lead to its history: all that ``discover`` looks at, beside the home folder.
    variables: tuple[str, ...] = ()
    #: How the name begins by which it introduces itself over MCP, in lower case.
    name_over_mcp: str = ""
    #: Variable that holds the id of the calling session, in what the client starts; it ends with ``SESSION_VARIABLE_ENDS``.
    session_variable: str = ""
    #: Where a request's ``_meta`` holds that id: keys from the outside in.
    session_in_meta: tuple[tuple[str, ...], ...] = ()
    #: Key of ``_meta`` that holds the id of the tool call. Its reader then is a ``FindsCall``.
    call_in_meta: str = ""
    #: What to type, or to write where, to attach it to a server at ``URL``, with what ``OVILLO key token`` prints or with the
    #: variable ``OVILLO_TOKEN``. Over stdio ``ovillo install`` does it (``ovillo.attach``).
    over_http: tuple[str, ...] = ()
    #: Of a reader of another package; those of ovillo's own stand in ``programs``.
    program: Program | None = None

    def is_named(self, name: str | None) -> bool:
        """Whether a program that introduces itself so is this client."""
        return bool(self.name_over_mcp) and (name or "").lower().startswith(self.name_over_mcp)


def client_of(reader: object) -> Client:
    """What a reader says of its client; readers of other packages need not say anything."""
    found = getattr(reader, "client", None)
    return found if isinstance(found, Client) else Client()
