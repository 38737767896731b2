"""Links between sessions, made by hand and proposed, through the services of the real application."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.interfaces.services import Services
from ovillo.model.coordination import RELATIONSHIPS
from ovillo.model.errors import InvalidInput, LimitExceeded, NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Session, SessionDelta, SessionId, SessionStatus, SessionType, ToolCall, ToolStatus
from ovillo.search.service import SearchRequest
from ovillo.sessions.drafts import SessionDraft
from ovillo.sessions.mentions import identifiers_in, tickets_in
from tests.builders import NOON, delta, message, session, text_part, tool_part
from tests.interfaces.opened import made, record, recorded, recorded_home

__all__ = ["made", "recorded", "recorded_home"]

DAY = 86_400_000
FEATURE, BUG, SECURITY = (
    SessionId(x) for x in ("feature-payment-123", "bugfix-validation-456", "refactor-security-789")
)


def said(session_id: SessionId, prompt: str, *files: str, **fields: object) -> SessionDelta:
    about: Session = session(session_id, **{"title": str(session_id), "directory": "/w/shop", **fields})
    tools = [
        ToolCall("edit", f"{session_id}-{n}", {"file_path": x}, "", status=ToolStatus.COMPLETED)
        for n, x in enumerate(files)
    ]
    parts = (
        text_part(f"m-{session_id}", prompt),
        *(tool_part(f"m-{session_id}", n, x) for n, x in enumerate(tools, 1)),
    )
    return delta(message(f"m-{session_id}", 1, parts=parts, of=session_id), about=about)


@pytest.fixture
def shop(made: Services) -> Services:
    """The use case of the specification: a bug in validation that reaches two other sessions."""
    record(
        made,
        said(FEATURE, "Implementa process_payment y validate_card", "/w/shop/pay.py", type=SessionType.FEATURE),
        said(
            BUG,
            "validate_card rechaza tarjetas buenas: la validación de pago falla en process_payment",
            "/w/shop/pay.py",
            type=SessionType.BUGFIX,
            created_at=NOON + DAY,
            updated_at=NOON + DAY + 1,
        ),
        said(
            SECURITY,
            "Refactor the security of validate_card",
            type=SessionType.REFACTOR,
            created_at=NOON + 2 * DAY,
            updated_at=NOON + 2 * DAY + 1,
            status=SessionStatus.COMPLETED,
        ),
    )
    return made


@pytest.mark.requirement("LINKS-1")
def test_related_sessions_are_those_of_the_specification_and_readable_from_the_other_side(shop: Services) -> None:
    shop.links.link_sessions(NS, BUG, FEATURE, "fixes_issue_in", ["validate_card", "process_payment"])
    shop.links.link_sessions(NS, BUG, SECURITY, "impacts", ["validate_card"])
    assert shop.links.related_sessions(NS, BUG) == [
        {"id": FEATURE, "relationship": "fixes_issue_in", "shared_entities": ["validate_card", "process_payment"]},
        {"id": SECURITY, "relationship": "impacts", "shared_entities": ["validate_card"]},
    ]
    assert shop.links.related_sessions(NS, SECURITY) == [
        {"id": BUG, "relationship": "impacted_by", "shared_entities": ["validate_card"]}
    ]
    seen = shop.links.links_of(NS, FEATURE)
    assert [(x.relationship, x.outgoing, x.other.session.id) for x in seen] == [("issue_fixed_by", False, BUG)]


@pytest.mark.requirement("LINKS-2")
def test_known_relationships_and_own_words_are_accepted_and_others_refused(shop: Services) -> None:
    for word in (*RELATIONSHIPS, "blocks", "x" * 40):
        link, is_new = shop.links.link_sessions(NS, BUG, FEATURE, f" {word} ")
        assert (link.relationship, is_new) == (word, True)
    assert {x.relationship for x in shop.links.links_of(NS, FEATURE)} >= {"superseded_by", "inverse_blocks"}
    for word in ("", "Fixes", "fixes-it", "x" * 41, "a b", "fixes\nit"):
        with pytest.raises(InvalidInput, match="fixes_issue_in"):
            shop.links.link_sessions(NS, BUG, FEATURE, word)


@pytest.mark.requirement("LINKS-2")
def test_a_link_is_bounded_and_holds_no_secret(shop: Services) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        shop.links.link_sessions(NS, BUG, BUG)
    with pytest.raises(LimitExceeded):
        shop.links.link_sessions(NS, BUG, FEATURE, shared_entities=[f"e{n}" for n in range(101)])
    with pytest.raises(LimitExceeded):
        shop.links.link_sessions(NS, BUG, FEATURE, note="x" * 4_001)
    with pytest.raises(NotFound, match="nobody"):
        shop.links.link_sessions(NS, BUG, SessionId("nobody"))
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    link, _ = shop.links.link_sessions(NS, BUG, FEATURE, shared_entities=[" a ", "a", ""], note=f"with {token}")
    assert link.shared_entities == ("a",)
    assert token not in str(shop.links.links_of(NS, BUG)[0].link)


@pytest.mark.requirement("LINKS-3")
def test_a_recorded_session_is_linked_to_a_mirrored_one_and_takes_the_link_along_when_removed(shop: Services) -> None:
    row, _ = shop.recorder.create(NS, SessionDraft(name="Follow-up"))
    shop.links.link_sessions(NS, row.session.id, BUG, "continues")
    assert [x.relationship for x in shop.links.links_of(NS, BUG)] == ["continued_by"]
    shop.recorder.delete(NS, row.session.id)
    assert shop.links.links_of(NS, BUG) == ()


@pytest.mark.requirement("LINKS-4")
def test_a_link_that_is_not_there_cannot_be_removed_and_those_there_are_named(shop: Services) -> None:
    shop.links.link_sessions(NS, BUG, FEATURE, "impacts")
    with pytest.raises(NotFound, match=f"{BUG} impacts {FEATURE}"):
        shop.links.unlink(NS, FEATURE, BUG)
    assert shop.links.unlink(NS, BUG, FEATURE, "impacts") == 1


@pytest.mark.requirement("LINKS-5")
def test_a_bug_is_proposed_to_be_fixed_in_the_feature_with_what_speaks_for_it(shop: Services) -> None:
    found = {x.to_session.session.id: x for x in shop.link_proposals.for_session(NS, BUG)}
    assert found[FEATURE].relationship == "fixes_issue_in"
    assert {"validate_card", "process_payment", "pay.py"} <= set(found[FEATURE].shared_entities)
    assert any("/w/shop/pay.py" in line for line in found[FEATURE].evidence)
    assert found[SECURITY].relationship == "impacts"
    assert 0 < found[SECURITY].score < found[FEATURE].score <= 1


@pytest.mark.requirement("LINKS-5")
def test_an_accepted_proposal_becomes_a_link_with_its_evidence_and_is_proposed_no_more(shop: Services) -> None:
    link = shop.link_proposals.accept(NS, FEATURE, BUG)
    assert (link.from_id, link.to_id, link.relationship, link.origin) == (BUG, FEATURE, "fixes_issue_in", "proposed")
    assert "validate_card" in link.shared_entities
    assert link.note
    assert "pay.py" in link.note
    pairs = [{x.from_session.session.id, x.to_session.session.id} for x in shop.link_proposals.newest(NS)]
    assert {BUG, FEATURE} not in pairs
    with pytest.raises(NotFound, match="proposed"):
        shop.link_proposals.accept(NS, FEATURE, BUG)


@pytest.mark.requirement("LINKS-6")
def test_what_was_dismissed_is_never_proposed_again(shop: Services) -> None:
    before = {frozenset((x.from_session.session.id, x.to_session.session.id)) for x in shop.link_proposals.newest(NS)}
    assert frozenset((BUG, FEATURE)) in before
    shop.link_proposals.dismiss(NS, FEATURE, BUG)
    record(
        shop, said(FEATURE, "validate_card PAY-77", "/w/shop/a.py"), said(BUG, "validate_card PAY-77", "/w/shop/a.py")
    )
    after = {frozenset((x.from_session.session.id, x.to_session.session.id)) for x in shop.link_proposals.newest(NS)}
    assert after == before - {frozenset((BUG, FEATURE))}


@pytest.mark.requirement("LINKS-6")
def test_a_family_is_not_proposed_to_itself(made: Services) -> None:
    record(
        made,
        said(SessionId("parent"), "PAY-1 build_it", "/w/a.py"),
        said(SessionId("child1"), "PAY-1 build_it", "/w/a.py", parent_id="parent"),
        said(SessionId("child2"), "PAY-1 build_it", "/w/a.py", parent_id="parent"),
        said(SessionId("forked"), "PAY-1 build_it", "/w/a.py", forked_from="parent"),
    )
    assert made.link_proposals.for_session(NS, SessionId("parent")) == ()
    assert made.link_proposals.for_session(NS, SessionId("child1")) == ()


@pytest.mark.requirement("LINKS-7")
def test_a_file_that_everybody_touches_proposes_nothing(made: Services) -> None:
    names = [SessionId(f"ses-{n}") for n in range(12)]
    record(made, *(said(x, f"task number {n}", "/w/README.md", directory=f"/w/{n}") for n, x in enumerate(names)))
    assert made.link_proposals.for_session(NS, names[0]) == ()
    record(made, said(names[0], "x", "/w/rare.py"), said(names[1], "x", "/w/rare.py"))
    assert [x.to_session.session.id for x in made.link_proposals.for_session(NS, names[1])] == [names[0]]


@pytest.mark.requirement("LINKS-5")
def test_work_taken_up_again_on_a_branch_continues_and_equal_titles_duplicate(made: Services) -> None:
    at = {"git_branch": "feat/checkout", "type": SessionType.FEATURE}
    later = {"created_at": NOON + DAY, "updated_at": NOON + DAY + 5}
    record(
        made,
        said(SessionId("first"), "Start with cart_total", "/w/cart.py", **at),
        said(SessionId("second"), "Go on with cart_total", "/w/cart.py", **at, **later),
        said(SessionId("third"), "whatever", title="Show the weekly invoice report", **later),
        said(
            SessionId("fourth"), "something", title="Show the weekly invoice report", created_at=NOON, updated_at=NOON
        ),
    )
    (going_on,) = made.link_proposals.for_session(NS, SessionId("first"))
    assert (going_on.from_session.session.id, going_on.relationship) == ("second", "continues")
    assert "both on the branch feat/checkout" in going_on.evidence
    (same,) = made.link_proposals.for_session(NS, SessionId("third"))
    assert (same.from_session.session.id, same.relationship) == ("third", "duplicates")


@pytest.mark.requirement("LINKS-7")
def test_names_are_told_from_prose_in_four_languages() -> None:
    texts = [
        "Arregla `validate_card` en src/pay/card_validator.py, ver PAY-123 y #4512",
        "Corrige CardValidator et processPayment() s'il te plaît, e o método pagar() no UTF-8 em 2026-11-21",
        "1) well-known state-of-the-art, e.g. https://example.com/a_b?c=d #1",
    ]
    assert tickets_in(texts) == {"PAY-123", "#4512"}
    names = identifiers_in(texts)
    assert {"validate_card", "card_validator.py", "CardValidator", "processPayment", "pagar"} <= names
    assert not {"well-known", "Arregla", "2026-11-21", "UTF-8"} & names


@pytest.mark.requirement("LINKS-8")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("type:bugfix status:active entity:validate_card", {BUG}),
        ("status:completed entity:validate_card", {SECURITY}),
        ("entity:validate_card", {FEATURE, BUG, SECURITY}),
        ("type:bugfix status:archived", set()),
        ("type:bugfix status:active validación de pago", {BUG}),
        ("type:bugfix status:active payment validation", {BUG}),
    ],
)
def test_pending_bugs_are_asked_for_by_type_status_and_entity(shop: Services, query: str, expected: set[str]) -> None:
    found = shop.search.search(NS, SearchRequest(query))
    assert {hit.summary.session.id for hit in found.sessions} == expected


@pytest.mark.requirement("LINKS-8")
def test_an_unknown_status_is_answered_with_the_known_ones(shop: Services) -> None:
    with pytest.raises(InvalidInput, match="interrupted"):
        shop.search.search(NS, SearchRequest("status:pending card"))


@pytest.mark.requirement("LINKS-5")
def test_proposals_over_real_histories_name_existing_sessions_and_evidence(recorded: Services, fixtures: Path) -> None:
    for proposal in recorded.link_proposals.newest(NS, 50):
        assert proposal.evidence
        assert proposal.relationship in RELATIONSHIPS
        assert 0.3 <= proposal.score <= 1
        assert proposal.from_session.session.id != proposal.to_session.session.id
