"""Content as the suite wants to see it: texts, the smallest image and sound, embedded resources.

Owns the shapes; the words are the suite's.
"""

from __future__ import annotations

import base64
from typing import Any

import mcp_types as types

#: One red pixel (PNG), and no samples at 8 kHz (WAV).
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = base64.b64encode(
    b"RIFF\x24\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00"
    b"\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00"
).decode()


def text(said: str) -> types.TextContent:
    return types.TextContent(type="text", text=said)


def image() -> types.ImageContent:
    return types.ImageContent(type="image", data=PNG, mime_type="image/png")


def audio() -> types.AudioContent:
    return types.AudioContent(type="audio", data=WAV, mime_type="audio/wav")


def embedded(uri: str, said: str, mime_type: str = "text/plain") -> types.EmbeddedResource:
    return types.EmbeddedResource(
        type="resource", resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=said)
    )


def answer(*content: Any, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(content=list(content), is_error=is_error)


def said(words: str) -> types.CallToolResult:
    return answer(text(words))


def failed(words: str) -> types.CallToolResult:
    return answer(text(words), is_error=True)
