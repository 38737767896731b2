"""Every operation of a server, as its own description tells it: a new one is in it at once."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tests.interfaces.http.serving import Site

_VALUES = {
    "event": "stop",
    "name": "entity_of_theirs",
    "id": "theirs",
    "message": "msg_theirs",
    "version": "1",
    "other": "1",
    "key": "theirs",
    "mark": "0" * 16,
}


class Operation(NamedTuple):
    method: str
    path: str
    #: ``None`` is public.
    scope: str | None
    #: The least that its schema asks for.
    body: Any


def operations_of(site: Site) -> list[Operation]:
    document = site.ask("GET", "/openapi.json").json
    found = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            if method == "parameters":
                continue
            scope = re.search(r"Needs the scope `([^`]+)`", operation.get("description", ""))
            taken = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
            body = None if taken is None else _least(document, taken)
            found.append(Operation(method.upper(), path, scope[1] if scope else None, body))
    return found


def filled(path: str, task: str = "theirs") -> str:
    values = {**_VALUES, "id": task} if "/tasks/" in path else _VALUES
    filled = re.sub(r"\{(\w+)\}", lambda name: values[name[1]], path)
    return f"{filled}?query=telling" if path.endswith("/search") else filled


def _least(document: dict[str, Any], schema: dict[str, Any]) -> Any:
    """A small value that the schema takes. Nothing of it is what others have."""
    if "$ref" in schema:
        place: Any = document
        for name in schema["$ref"].removeprefix("#/").split("/"):
            place = place[name]
        return _least(document, place)
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return _least(document, schema[choice][0])
    if "enum" in schema:
        return schema["enum"][0]
    match schema.get("type"):
        case "object":
            known = schema.get("properties", {})
            wanted = schema.get("required") or [name for name in known if name == "name"]
            return {name: _least(document, known[name]) for name in wanted}
        case "array":
            return [_least(document, schema["items"])] if schema.get("minItems") else []
        case "integer" | "number":
            return schema.get("minimum", 1)
        case "boolean":
            return False
        case _:
            return "trespass"
