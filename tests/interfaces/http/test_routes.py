"""What a handler says of itself is all that its endpoint is made from."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from ovillo.interfaces.http.endpoints import Exchange, NoQuery, Reply
from ovillo.interfaces.http.openapi import openapi_document
from ovillo.interfaces.http.routes import Routes
from tests.interfaces.http.guarded import guarded
from tests.interfaces.http.serving import serving
from tests.interfaces.opened import settings_for


class Wanted(Struct):
    colour: str = "red"


class Thing(Struct):
    name: str


def things() -> Routes:
    routes = Routes("Things")

    @routes("PUT", "/api/things/{id}", "Keep a thing", "sessions:write", also={404: "No such thing."})
    def keep_thing(call: Exchange[Wanted, Thing]) -> Thing:
        return Thing(f"{call.body.name} {call.query.colour}")

    @routes("POST", "/api/things", "A new thing", None, status=201)
    async def new_thing(call: Exchange[NoQuery, Thing]) -> Reply[Thing]:
        return Reply(call.body, headers={"Location": "/api/things/1"})

    @routes("DELETE", "/api/things/{id}", "No thing", "sessions:write")
    def drop_thing(call: Exchange[NoQuery, None]) -> None: ...

    @routes("GET", "/api/things/{id}/picture", "A thing drawn", "sessions:write")
    def draw_thing(call: Exchange[NoQuery, None]) -> Reply[bytes]:
        return Reply(b"<svg/>", content_type="image/svg+xml")

    return routes


def test_types_and_name_of_a_handler_make_its_endpoint() -> None:
    keep, new, drop, draw = things()
    assert (keep.name, keep.query, keep.body, keep.reply, keep.status) == ("keepThing", Wanted, Thing, Thing, 200)
    assert (new.name, new.query, new.body, new.reply, new.status) == ("newThing", NoQuery, Thing, Thing, 201)
    assert (drop.body, drop.reply, drop.status) == (None, None, 204)
    assert (draw.reply, draw.status) == (None, 200)
    assert {each.tag for each in things()} == {"Things"}


def test_what_a_handler_returns_is_sent(tmp_path: Any) -> None:
    with serving(settings_for(tmp_path), endpoints=tuple(things())) as site:
        kept = site.ask("PUT", "/api/things/1?colour=blue", {"name": "hat"})
        assert (kept.status, kept.json) == (200, {"name": "hat blue"})
        made = site.ask("POST", "/api/things", {"name": "hat"})
        assert (made.status, made.json, made.headers["location"]) == (201, {"name": "hat"}, "/api/things/1")
        assert (site.ask("DELETE", "/api/things/1").status, site.ask("DELETE", "/api/things/1").body) == (204, b"")


def test_a_handler_that_does_not_say_its_types_is_refused() -> None:
    routes = Routes("Things")
    with pytest.raises(TypeError, match="untyped"):

        @routes("GET", "/api/things", "Things", None)
        def untyped(call):  # type: ignore[no-untyped-def]
            return None


def test_structs_of_parameters_are_no_schemas_of_the_description() -> None:
    described = openapi_document(list(things()))
    assert "Wanted" not in described["components"]["schemas"]
    assert "Thing" in described["components"]["schemas"]
    (_, colour) = described["paths"]["/api/things/{id}"]["put"]["parameters"]
    assert colour == {
        "name": "colour",
        "in": "query",
        "required": False,
        "schema": {"type": "string", "default": "red"},
    }


#: Here it is a folder or id that is compared; nothing is looked up by it.
_COMPARED = {"/api/sessions", "/api/memory/forget"}


@pytest.mark.requirement("HTTP-11")
def test_what_takes_the_name_of_a_project_says_that_there_may_be_none_or_several(tmp_path: Path) -> None:
    with guarded(tmp_path) as app:
        described = app.site.ask("GET", "/openapi.json").json
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
                shape = described["components"]["schemas"].get(body.get("$ref", "").rpartition("/")[2], body)
                taken = {each["name"] for each in operation.get("parameters", ())} | set(shape.get("properties", ()))
                if "project" in taken and path not in _COMPARED:
                    assert {"404", "409"} <= set(operation["responses"]), (method, path)
