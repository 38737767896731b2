"""Finding an endpoint by its path, and decoding what came with it: properties over what anybody may send."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from ovillo.interfaces.http.decoding import BadFields, Malformed, WrongType, body_decoder, query_decoder
from ovillo.interfaces.http.endpoints import NoQuery, Reply
from ovillo.interfaces.http.paths import PathTree
from ovillo.model.errors import InvalidInput
from tests.interfaces.http.serving import endpoint

_TEMPLATES = ("/a", "/a/{x}", "/a/{x}/b", "/a/b", "/{y}/b/{z}")


class Query(Struct, forbid_unknown_fields=True):
    limit: Annotated[int, Meta(ge=1, le=10)] = 5
    tags: list[str] = []
    since: float | None = None


class Body(Struct, forbid_unknown_fields=True):
    name: str
    more: dict[str, int] = {}


def _tree() -> PathTree[str]:
    tree: PathTree[str] = PathTree()
    for template in _TEMPLATES:
        tree.add("GET", template, template)
    return tree


@pytest.mark.requirement("HTTP-4")
@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_any_id_comes_back_as_it_was_written(value: str) -> None:
    found, values, _ = _tree().find("GET", f"/a/{quote(value, safe='')}/b")
    assert (found, values) == ("/a/{x}/b", {"x": value})


@pytest.mark.requirement("HTTP-4")
@given(st.text())
def test_no_path_makes_the_search_fail(path: str) -> None:
    found, values, allowed = _tree().find("GET", f"/{path}")
    assert found is None or found in _TEMPLATES
    assert all(values.values())
    assert not (found and allowed)


@pytest.mark.requirement("HTTP-4")
def test_a_method_is_looked_for_under_every_template_that_fits() -> None:
    tree: PathTree[str] = PathTree()
    tree.add("POST", "/s/import", "import")
    tree.add("GET", "/s/{id}", "one")
    assert tree.find("GET", "/s/import") == ("one", {"id": "import"}, [])
    assert tree.find("HEAD", "/s/import")[0] == "one"
    assert tree.find("PUT", "/s/import") == (None, {}, ["GET", "POST"])
    with pytest.raises(InvalidInput, match="twice"):
        tree.add("GET", "/s/{other}", "again")


@pytest.mark.requirement("HTTP-2")
@given(st.one_of(st.binary(), st.from_regex(r"(limit|tags|since|x)=[^&]*(&(limit|tags)=.*)?").map(str.encode)))
def test_no_address_makes_decoding_fail_but_with_the_place(raw: bytes) -> None:
    for kind in (Query, NoQuery):
        with suppress(BadFields):
            assert isinstance(query_decoder(kind)(raw), kind)


@pytest.mark.requirement("HTTP-2")
@given(st.binary(), st.one_of(st.none(), st.just("application/json"), st.text()))
def test_no_body_makes_decoding_fail_otherwise_than_told(raw: bytes, kind: str | None) -> None:
    decode = body_decoder(endpoint(lambda call: Reply(), method="POST", body=Body))
    with suppress(BadFields, Malformed, WrongType):
        assert isinstance(decode(raw, kind), Body)
