"""What the schemas of bundles allow, so that it is checked where nobody can be asked for them.

Owns the facts of the MCP registry's ``server.json`` (2025-12-11) and of MCPB manifests (0.4), as far as we use them: a member
that stands nowhere here is refused, as strict readers do.
"""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

Version = Annotated[str, Meta(min_length=1, max_length=255, pattern=r"^[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$")]


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


# --- server.json ------------------------------------------------------------------------------------------------


class Transport(Strict):
    type: Literal["stdio"]


class Argument(Strict):
    type: Literal["positional"]
    value: str


class Package(Strict, rename="camel"):
    registry_type: Literal["pypi"]
    identifier: str
    version: Version
    runtime_hint: str
    transport: Transport
    package_arguments: list[Argument]


class ServerEntry(Strict):
    schema: Annotated[
        str,
        Meta(pattern=r"^https://static\.modelcontextprotocol\.io/schemas/\d{4}-\d\d-\d\d/server\.schema\.json$"),
    ] = msgspec.field(name="$schema")
    name: Annotated[str, Meta(min_length=3, max_length=200, pattern=r"^[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+$")]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    description: Annotated[str, Meta(min_length=1, max_length=100)]
    version: Version
    packages: Annotated[list[Package], Meta(min_length=1)]


# --- manifest.json of an MCPB -----------------------------------------------------------------------------------


class Author(Strict):
    name: str


class Started(Strict):
    command: str
    args: list[str]


class BundledServer(Strict):
    type: Literal["uv"]
    entry_point: str
    mcp_config: Started


class Tool(Strict):
    name: str
    description: str


class Runtimes(Strict):
    python: str


class Compatibility(Strict):
    platforms: list[Literal["darwin", "win32", "linux"]]
    runtimes: Runtimes


class Manifest(Strict):
    manifest_version: Literal["0.4"]
    name: Annotated[str, Meta(pattern=r"^[a-z0-9-]+$")]
    version: Version
    description: str
    author: Author
    server: BundledServer
    display_name: str | UnsetType = UNSET
    license: str | UnsetType = UNSET
    keywords: list[str] | UnsetType = UNSET
    tools: list[Tool] | UnsetType = UNSET
    tools_generated: bool | UnsetType = UNSET
    compatibility: Compatibility | UnsetType = UNSET
