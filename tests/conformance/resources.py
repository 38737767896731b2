"""The fixture's resources: ``test://static-text``, ``test://static-binary``, ``test://watched-resource`` and a template.

Owns their URIs and contents.
"""

from __future__ import annotations

import json
import re

import mcp_types as types

from tests.conformance.contents import PNG

_TEMPLATE = "test://template/{id}/data"
_FILLED = re.compile(r"test://template/([^/]+)/data")
_TEXTS = {
    "test://static-text": "This is the content of the static text resource.",
    "test://watched-resource": "This resource can be subscribed to.",
}
_BINARY = "test://static-binary"


def listed() -> list[types.Resource]:
    return [
        types.Resource(
            uri="test://static-text", name="static-text", description="A text that stays", mime_type="text/plain"
        ),
        types.Resource(uri=_BINARY, name="static-binary", description="An image that stays", mime_type="image/png"),
        types.Resource(
            uri="test://watched-resource",
            name="watched-resource",
            description="A text to subscribe to",
            mime_type="text/plain",
        ),
    ]


def templates() -> list[types.ResourceTemplate]:
    return [
        types.ResourceTemplate(
            uri_template=_TEMPLATE, name="template", description="Data of an id", mime_type="application/json"
        )
    ]


def read(uri: str) -> types.TextResourceContents | types.BlobResourceContents | None:
    """``None`` when there is no such resource."""
    if uri == _BINARY:
        return types.BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)
    if uri in _TEXTS:
        return types.TextResourceContents(uri=uri, mime_type="text/plain", text=_TEXTS[uri])
    if filled := _FILLED.fullmatch(uri):
        data = {"id": filled[1], "templateTest": True, "data": f"Data for ID: {filled[1]}"}
        return types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
    return None
