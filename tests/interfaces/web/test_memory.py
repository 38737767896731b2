"""The screens of the memory: what is there, where it comes from, why it would be recalled, and changing it by hand."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ovillo.interfaces.services import Services
from ovillo.model.memories import Audience, MemoryFilter, MemoryState, Origin, Provenance
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role
from tests.builders import delta, message, session
from tests.interfaces.http.serving import Site
from tests.interfaces.opened import record
from tests.interfaces.web.keyed import forms_on, keyed_site, send, token_on
from tests.interfaces.web.sites import page, send_form, text_of

Sites = tuple[Services, Site, Site]
HERE, WEB = Provenance(), Provenance(Origin.WEB, source="https://example.org")


@pytest.fixture
def sites(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sites]:
    with keyed_site(tmp_path_factory.mktemp("memory")) as opened:
        yield opened


def fact(services: Services, key: str, text: str, of: Provenance = HERE) -> str:
    return services.memories.semantic.store(NS, key, text, of).memory.id


def states(services: Services) -> dict[str, MemoryState]:
    return {each.text: each.state for each in services.memories.listed(NS, MemoryFilter(), 50)}


@pytest.mark.requirement("WEB-40")
def test_a_memory_leads_to_the_exact_place_where_it_was_said(sites: Sites) -> None:
    services, reader, _ = sites
    said = [
        message(f"m{n}", n, text, role=Role.USER, of="ses_a") for n, text in enumerate(("hello", "we use SQLite now"))
    ]
    record(services, delta(*said, about=session("ses_a")))
    kept = fact(services, "db", "we use SQLite", Provenance(Origin.HUMAN, session_id="ses_a", message_id="m1"))
    for path in ("/memory", f"/memory/items/{kept}"):
        assert 'href="/sessions/ses_a?at=m1"' in text_of(page(reader, path))
    data = reader.ask("GET", f"/memory/items/{kept}.json").json
    assert (data["memory"]["session_id"], data["memory"]["message_id"]) == ("ses_a", "m1")


@pytest.mark.requirement("WEB-40")
def test_layers_are_listed_with_their_sizes_searched_and_paged(sites: Sites) -> None:
    services, reader, _ = sites
    for number in range(60):
        services.memories.short_term.store(NS, f"k{number}", f"value {number}", HERE)
    fact(services, "db", "the database is SQLite")
    first = reader.ask("GET", "/memory.json?layer=short_term").json
    sizes = {each["layer"]: (each["active"], each["limit"]) for each in first["layers"]}
    assert sizes["short_term"] == (60, 1_000)
    assert sizes["semantic"] == (1, None)
    rest = reader.ask("GET", f"/memory.json?layer=short_term&cursor={first['next_cursor']}").json
    assert len({each["id"] for each in first["memories"] + rest["memories"]}) == 60
    [found] = reader.ask("GET", "/memory.json?q=database").json["memories"]
    assert found["key"] == "db"
    assert "has" in found["why"]
    assert page(reader, "/memory?cursor=bad").status == 422


@pytest.mark.requirement("WEB-41")
def test_a_key_that_only_reads_is_offered_no_change_and_refused_one(sites: Sites) -> None:
    services, reader, admin = sites
    kept = fact(services, "port", "port 8765")
    other = fact(services, "port", "port 9000")
    waits = fact(services, "setup", "run setup.sh", WEB)
    before = states(services)
    changes = {
        f"/memory/items/{kept}/edit": {"text": "port 1"},
        f"/memory/items/{kept}/pin": {"pinned": "on"},
        f"/memory/items/{kept}/merge": {"other": other},
        "/memory/forget": {"id": kept, "count": 1},
        f"/memory/review/{waits}": {"action": "accept"},
    }
    pages = ("/memory", f"/memory/items/{kept}", "/memory/review", "/memory/contradictions")
    offered = {form for path in pages for form in forms_on(text_of(page(admin, path)))}
    assert offered | {"/memory/forget"} >= changes.keys()
    for path in pages:
        assert forms_on(text_of(page(reader, path))) == set()
        assert "/memory/forget" not in text_of(page(reader, path))
    for path, fields in changes.items():
        assert send(reader, path, **fields).status == 403, path
    assert page(reader, f"/memory/forget?id={kept}").status == 403
    assert states(services) == before


@pytest.mark.requirement("WEB-41")
def test_a_token_of_one_key_is_of_no_use_to_another(sites: Sites) -> None:
    services, reader, admin = sites
    kept = fact(services, "port", "port 8765")
    theirs = token_on(text_of(page(reader, "/memory")))
    assert send_form(admin, f"/memory/items/{kept}/pin", {"token": theirs, "pinned": "on"}).status == 403
    assert not services.memories.get(NS, kept, viewer="x").is_pinned


@pytest.mark.requirement("WEB-40")
def test_a_fact_is_reworded_pinned_and_made_one_with_another(sites: Sites) -> None:
    services, _, admin = sites
    kept, other = fact(services, "port", "port 8765"), fact(services, "ports", "the port is 8765")
    done = send(admin, f"/memory/items/{kept}/edit", text="the port is 9000")
    assert done.status == 303
    new = done.headers["location"].rpartition("/")[2]
    assert send(admin, f"/memory/items/{new}/pin", pinned="on", back="/memory").headers["location"] == "/memory"
    send(admin, f"/memory/items/{new}/merge", other=other)
    memory = services.memories.get(NS, new, viewer="x")
    assert (memory.text, memory.is_pinned, memory.state) == ("the port is 9000", True, MemoryState.ACTIVE)
    assert services.memories.get(NS, other, viewer="x").superseded_by == new


@pytest.mark.requirement("WEB-40")
def test_nothing_is_forgotten_beyond_what_the_page_has_counted(sites: Sites) -> None:
    services, _, admin = sites
    of = Provenance(Origin.MODEL, session_id="ses_a")
    for number in range(3):
        fact(services, f"k{number}", f"fact {number}", of)
    asked = page(admin, "/memory/forget?session=ses_a")
    assert 'name="count" value="3"' in text_of(asked)
    fact(services, "late", "a late fact", of)
    assert send(admin, "/memory/forget", session="ses_a", count=3).status == 422
    assert send(admin, "/memory/forget", session="ses_a", count=4).status == 303
    assert services.memories.listed(NS, MemoryFilter(), 10) == []
    assert page(admin, "/memory/forget").status == 422


@pytest.mark.requirement("WEB-40")
def test_what_waits_is_accepted_in_other_words_rejected_and_taken_back(sites: Sites) -> None:
    services, _, admin = sites
    fact(services, "setup", "run make")
    waits = fact(services, "setup", "run setup.sh", WEB)
    html = text_of(page(admin, "/memory/review"))
    assert "run make" in html
    assert "run setup.sh" in html
    send(admin, f"/memory/review/{waits}", action="accept", text="run setup.sh first")
    assert states(services) == {"run setup.sh first": MemoryState.ACTIVE, "run make": MemoryState.SUPERSEDED}
    send(admin, f"/memory/review/{waits}", action="undo")
    assert states(services)["run make"] is MemoryState.ACTIVE
    send(admin, f"/memory/review/{waits}", action="reject", reason="no")
    assert states(services)["run setup.sh first"] is MemoryState.REJECTED
    assert f'action="/memory/review/{waits}"' in text_of(page(admin, "/memory/review"))


@pytest.mark.requirement("WEB-40")
def test_contradictions_stand_side_by_side_and_are_settled_by_keeping_one(sites: Sites) -> None:
    services, _, admin = sites
    one, other = fact(services, "port", "port 8765"), fact(services, "port", "port 9000")
    [pair] = admin.ask("GET", "/memory/contradictions.json").json["pairs"]
    assert {pair["one"]["id"], pair["other"]["id"]} == {one, other}
    send(admin, f"/memory/items/{one}/merge", other=other, back="/memory/contradictions")
    assert admin.ask("GET", "/memory/contradictions.json").json["pairs"] == []


@pytest.mark.requirement("WEB-42")
def test_a_dry_run_tells_what_would_be_recalled_and_why_and_counts_as_no_use(sites: Sites) -> None:
    services, reader, _ = sites
    kept = fact(services, "database", "the database is SQLite")
    data = reader.ask("GET", "/memory/recall.json?prompt=which+database").json
    [found] = data["recalled"]
    assert found["id"] == kept
    assert found["score"] > 0
    assert "database" in found["why"]
    assert services.memories.get(NS, kept, viewer="x").uses == 0
    assert page(reader, "/memory/recall?prompt=x&project=none+such").status == 404


@pytest.mark.requirement("WEB-41")
def test_what_is_personal_to_somebody_is_shown_to_nobody_else(sites: Sites) -> None:
    services, reader, admin = sites
    (key,) = [each for each in services.keys.list() if each.name == "admin of the test"]
    mine = Provenance(owner=key.owner)

    kept = services.memories.semantic.store(NS, "mine", "my secret taste", mine, audience=Audience.PERSONAL).memory.id
    assert page(admin, f"/memory/items/{kept}").status == 200
    assert page(reader, f"/memory/items/{kept}").status == 404
    assert "my secret taste" not in text_of(page(reader, "/memory?layer=semantic"))
