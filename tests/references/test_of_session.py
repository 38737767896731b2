"""References against recorded sessions: earlier sessions, times, what has no name, and the command that explains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.model.errors import InvalidInput, NotFound
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role, SessionId
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from ovillo.settings import Settings
from tests.interfaces.cli_runs import CommandLine

_DAY = 86_400_000
Say = Callable[..., SessionId]


class Clock:
    """Goes on by a second whenever it is looked at."""

    def __init__(self) -> None:
        self.now = 1_790_000_000_000

    def __call__(self) -> int:
        self.now += 1_000
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def services(tmp_path: Path, clock: Clock) -> Iterator[Services]:
    settings = Settings(tmp_path / "data", tmp_path, environment={"HOME": str(tmp_path)}, embedder="none")
    opened = open_services(settings, clock)
    yield opened
    opened.close()


@pytest.fixture
def say(services: Services) -> Say:
    def session(*said: str, directory: str = "/w/shop") -> SessionId:
        row, _ = services.recorder.create(NS, SessionDraft(working_directory=directory))
        for number, text in enumerate(said):
            role = (Role.USER, Role.ASSISTANT)[number % 2]
            services.recorder.append(NS, row.session.id, [(MessageDraft(role, text), uuid4().hex)]).result(10)
        services.summary_worker.settle(NS, row.session.id)
        return row.session.id

    return session


def _names(services: Services, query: str, session: SessionId) -> list[str]:
    return [entity.name for entity in services.references.explain(NS, query, session).resolution.entities]


@pytest.mark.requirement("REFS-6")
@pytest.mark.parametrize(
    "query", ["continue with that function", "sigue con esa función", "continue avec cette fonction"]
)
def test_a_new_session_goes_on_with_what_the_project_spoke_of(services: Services, say: Say, query: str) -> None:
    before = say("load_rows() is slow, please look at `load_rows`", "I profile load_rows.")
    say("`other_place()` is unrelated", directory="/w/elsewhere")
    now = say("hello again")
    assert _names(services, query, now) == ["load_rows"]
    resolved = services.references.resolve(NS, query, now)
    assert [x.session_id for x in resolved.entities] == [before]


@pytest.mark.requirement("REFS-6")
def test_a_time_leads_to_the_session_of_that_time(services: Services, say: Say, clock: Clock) -> None:
    say("`load_rows()` is slow", "I profile `load_rows()`.")
    clock.now += _DAY
    now = say("`save_rows()` loses rows", "I look at `save_rows()`.")
    assert _names(services, "the function we looked at yesterday", now) == ["load_rows"]
    assert _names(services, "la función de ayer", now) == ["load_rows"]
    assert _names(services, "that function", now) == ["save_rows"]


@pytest.mark.requirement("REFS-7")
@pytest.mark.parametrize(
    ("said", "query", "name"),
    [
        ("Hay un bug en el pago cuando el importe es cero", "¿cómo va ese bug?", "bug en el pago"),
        ("There is a double charge bug at checkout", "is that bug fixed?", "double charge bug"),
        ("Il y a un bug dans la facturation", "ce bug est corrigé ?", "bug dans la facturation"),
        ("Tem um bug na exportação de notas", "esse bug ainda existe?", "bug na exportação"),
    ],
)
def test_a_bug_that_was_only_described_can_be_meant(
    services: Services, say: Say, said: str, query: str, name: str
) -> None:
    (found,) = _names(services, query, say(said, "…"))
    assert name in found


@pytest.mark.requirement("REFS-7")
def test_two_bugs_are_told_apart_by_what_is_said_of_them(services: Services, say: Say) -> None:
    session = say("Hay un bug en el pago", "Vale.", "Y otro bug en la exportación de facturas", "Anotado.")
    (first,) = _names(services, "arregla el bug del pago", session)
    (second,) = _names(services, "arregla el bug de la exportación", session)
    assert ("pago" in first, "exportación" in second) == (True, True)


@pytest.mark.requirement("REFS-3")
def test_what_is_asked_wrongly_is_said(services: Services, say: Say) -> None:
    session = say("hello")
    with pytest.raises(InvalidInput, match="characters"):
        services.references.explain(NS, " ", session)
    with pytest.raises(NotFound):
        services.references.explain(NS, "that function", SessionId("ses_none"))


@pytest.mark.requirement("REFS-8")
def test_the_command_explains_candidates_rule_and_search(
    services: Services, say: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    session = say("`load_rows()` and then `save_rows()` were changed", "I look at `load_rows()`.")
    services.close()
    cli = CommandLine(capsys, tmp_path, tmp_path / "data")
    shown = cli.run("resolve", "revisa esa función", "--session", session[:10])
    assert shown.code == 0
    assert "“esa función”  is function load_rows" in shown.out
    assert "save_rows" in shown.out
    assert "Searched as: revisa esa función (load_rows)" in shown.out
    data = cli.run("resolve", "revisa esa función", "--session", session, "--json").json()
    (reference,) = data["references"]
    assert (reference["status"], reference["entities"][0]["name"]) == ("resolved", "load_rows")
    assert [x["name"] for x in reference["candidates"]] == ["load_rows", "save_rows"]
    assert reference["candidates"][0]["evidence"]["type"] == 1
    nothing = cli.run("resolve", "supprime cette classe", "--session", session)
    assert (nothing.code, "means nothing that was said" in nothing.out) == (1, True)
    unknown = cli.run("resolve", "that function", "--session", "ses_none")
    assert (unknown.code not in (0, 1), "ses_none" in unknown.err) == (True, True)


@pytest.mark.requirement("REFS-8")
def test_the_context_command_answers_with_what_is_meant(
    services: Services, say: Say, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "rows.py").write_text("def load_rows(path):\n    return open(path).read().split()\n")
    services.code.index(NS, tmp_path / "shop")
    session = say("`load_rows()` in rows.py is slow", "I profile it.")
    services.close()
    cli = CommandLine(capsys, tmp_path, tmp_path / "data")
    shown = cli.run("context", "¿qué hace esa función?", "--session", session)
    assert shown.code == 0
    assert "return open(path).read().split()" in shown.out
    data = cli.run("context", "¿qué hace esa función?", "--session", session, "--json").json()
    assert data["resolved_entities"] == ["load_rows"]
    place = next(x for x in data["provenance"] if x["kind"] == "code")
    assert (place["file"], place["lines"]) == ("rows.py", [1, 2])


@pytest.mark.requirement("REFS-10")
@pytest.mark.parametrize(
    ("said", "query"),
    [
        ("Hay un bug en el pago", "¿cómo va el bug anterior?"),
        ("There is a bug in the payment", "what about the previous bug?"),
        ("Il y a un bug dans le paiement", "et le bug précédent ?"),
        ("Tem um bug no pagamento", "e o bug anterior?"),
        ("Hay un bug en el pago", "and the previous bug?"),
    ],
)
def test_the_previous_bug_is_the_one_of_the_session_and_of_no_other(
    services: Services, say: Say, said: str, query: str
) -> None:
    say("There is a bug in the rows, an earlier one is the bug anterior", "Fixed the previous bug.")
    (found,) = _names(services, query, say(said, "…", query))
    assert "pa" in found
    assert "anterior" not in found


@pytest.mark.requirement("REFS-10")
def test_a_question_that_the_session_holds_already_answers_nothing(services: Services, say: Say) -> None:
    functions = "`load_rows()` and `save_rows()` are slow"
    asked = "rewrite `load_rows()`, then the other one"
    assert _names(services, asked, say(functions, "Yes.", asked)) == _names(services, asked, say(functions, "Yes."))


@pytest.mark.requirement("REFS-6")
def test_a_session_that_goes_on_is_understood_as_if_it_were_read_for_the_first_time(
    services: Services, say: Say
) -> None:
    turns = (
        "`load_rows()` is slow",
        "I profile it. It waits.",
        "and `save_rows()`?",
        "Both are slow.",
        "fix the first one",
    )
    session = say(turns[0])
    for number, text in enumerate(turns[1:], 1):
        # Asked after each message: what was read is kept and grown.
        _names(services, "is that function old?", session)
        role = (Role.USER, Role.ASSISTANT)[number % 2]
        services.recorder.append(NS, session, [(MessageDraft(role, text), uuid4().hex)]).result(10)
    for query in ("is that function old?", "who calls it?", "and the other one?", "rename both"):
        assert _names(services, query, session) == _names(services, query, say(*turns))
