"""What references mean: by language, by kind, and when the right answer is to ask back."""

from __future__ import annotations

import pytest

from ovillo.references.mentions import Conversation
from ovillo.references.model import Entity, Kind, Status, Turn
from tests.references.talks import NOW, ask, meant, talk

_DAY = 86_400_000

FUNCTIONS = (("function", "load_rows", "io/rows.py"), ("function", "save_rows", "io/rows.py"), ("class", "RowCache"))


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    "query",
    [
        "review that function",
        "revisa esa función",
        "revisá esa función porfa",
        "relis cette fonction",
        "revê essa função",
        "revisa esa function please",
    ],
)
def test_a_typed_demonstrative_means_the_last_thing_of_its_type(query: str) -> None:
    conversation = talk(FUNCTIONS, "load_rows is slow", "It fills RowCache each time.")
    assert meant(query, conversation) == ["load_rows"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("check the second one", ["save_rows"]),
        ("mira la segunda", ["save_rows"]),
        ("regarde la première", ["load_rows"]),
        ("vê a segunda", ["save_rows"]),
        ("both functions need tests", ["load_rows", "save_rows"]),
        ("ambas funciones necesitan pruebas", ["load_rows", "save_rows"]),
        ("les deux fonctions sont lentes", ["load_rows", "save_rows"]),
        ("as duas funções estão lentas", ["load_rows", "save_rows"]),
    ],
)
def test_ordinals_and_plurals_take_what_was_listed(query: str, names: list[str]) -> None:
    conversation = talk(FUNCTIONS, "what is slow?", "Two functions: load_rows and save_rows.")
    assert meant(query, conversation) == names


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["and the other one?", "¿y la otra?", "et l'autre ?", "e a outra?"])
def test_the_other_is_the_one_that_is_not_spoken_of(query: str) -> None:
    conversation = talk(FUNCTIONS, "what is slow?", "load_rows and save_rows.", "start with load_rows")
    assert meant(query, conversation) == ["save_rows"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["rename it", "renómbrala", "renomme-la", "renomeia-a"])
def test_a_pronoun_means_what_stands_in_the_foreground(query: str) -> None:
    conversation = talk(FUNCTIONS[:1], "load_rows has a bad name")
    assert meant(query, conversation) == ["load_rows"]


@pytest.mark.requirement("REFS-1")
def test_words_that_describe_choose_in_another_language_too() -> None:
    functions = (("function", "process_payment"), ("function", "send_invoice"))
    conversation = talk(functions, "process_payment and send_invoice were changed", "send_invoice has no test.")
    assert meant("revisa la función de pago", conversation) == ["process_payment"]
    assert meant("regarde la fonction de paiement", conversation) == ["process_payment"]
    assert meant("vê a função de pagamento", conversation) == ["process_payment"]


@pytest.mark.requirement("REFS-2")
@pytest.mark.parametrize(
    "query",
    [
        "it is raining in Larne",
        "es la hora de comer",
        "il faut que je parte",
        "parece que vai chover",
        "how does a hash table work?",
        "¿cómo se escribe una función en Rust?",
        "I hear that they sold the office",
        "nobody works on the first of June",
        "el primero de mayo no trabajamos",
        "las dos de la tarde me viene bien",
        "o primeiro de maio é feriado",
        "it is drizzling again up there",
        "it takes a village to raise a child",
        "say that so a beginner gets it",
        "fíjate lo deprisa que se va el verano",
    ],
)
def test_what_only_looks_like_a_reference_is_none(query: str) -> None:
    conversation = talk(FUNCTIONS, "what is slow?", "Two functions: load_rows and save_rows.")
    assert meant(query, conversation) == []


@pytest.mark.requirement("REFS-2")
@pytest.mark.parametrize(
    "query", ["delete that class", "borra esa clase", "supprime cette classe", "apaga essa classe"]
)
def test_what_was_never_named_is_not_made_up(query: str) -> None:
    conversation = talk(FUNCTIONS[:2], "load_rows and save_rows are slow")
    found = ask(query, conversation)
    assert found.entities == ()
    assert found.status is Status.NONE


@pytest.mark.requirement("REFS-2")
def test_two_that_fit_as_well_are_asked_back() -> None:
    functions = (("function", "read_head"), ("function", "read_tail"))
    found = ask("that function is wrong", talk(functions, "read_head read_tail"))
    assert found.status is Status.AMBIGUOUS
    (reference,) = found.references
    assert {x.entity.name for x in reference.candidates} == {"read_head", "read_tail"}


@pytest.mark.requirement("REFS-3")
def test_each_reference_says_what_decided_and_what_else_it_could_be() -> None:
    conversation = talk(FUNCTIONS, "save_rows was fine", "Then load_rows is slow.")
    found = ask("why is that function slow, and what of RowCache?", conversation)
    by_kind = {each.reference.kind: each for each in found.references}
    explicit, demonstrative = by_kind[Kind.EXPLICIT], by_kind[Kind.DEMONSTRATIVE]
    assert explicit.reference.text == "RowCache"
    assert (demonstrative.reference.text, demonstrative.reference.span) == ("that function", (7, 20))
    assert demonstrative.rule
    assert [x.entity.name for x in demonstrative.candidates] == ["load_rows", "save_rows"]
    assert demonstrative.candidates[0].score > demonstrative.candidates[1].score
    assert 0.5 < demonstrative.confidence <= 1
    assert found.expanded == "why is that function (load_rows) slow, and what of RowCache?"


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    "query", ["last week's commit", "el commit de la semana pasada", "le commit de la semaine dernière"]
)
def test_what_was_said_this_week_is_not_that_of_last_week(query: str) -> None:
    # The eve of a weekend: Tuesday is three days back and yet of this week.
    known = [Entity("c0ffee1", "commit", "c0ffee1"), Entity("0ldc0de", "commit", "0ldc0de")]
    tuesday = Turn("s", NOW - 3 * _DAY, "user", "c0ffee1 is pushed")
    assert ask(query, Conversation(known, [tuesday], "s")).entities == ()
    earlier = Turn("s", NOW - 9 * _DAY, "user", "0ldc0de is pushed")
    assert [x.name for x in ask(query, Conversation(known, [earlier, tuesday], "s")).entities] == ["0ldc0de"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    "query", ["last year's commit", "el commit del año pasado", "le commit de l'an dernier", "o commit do ano passado"]
)
def test_a_time_in_which_nothing_was_said_is_not_filled_with_what_is_near(query: str) -> None:
    known = [Entity("c0ffee1", "commit", "c0ffee1")]
    assert ask(query, Conversation(known, [Turn("s", NOW - _DAY, "user", "c0ffee1 is pushed")], "s")).entities == ()


@pytest.mark.requirement("REFS-1")
def test_a_day_to_come_tells_what_is_meant_and_not_when_it_was_said() -> None:
    features = (("feature", "dark theme"), ("feature", "csv export"))
    conversation = talk(features, "the csv export is due on friday, the dark theme can wait")
    assert ask("how far is the feature for friday?", conversation).references[0].reference.window is None


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("do these two share code?", ["load_rows", "save_rows"]),
        ("not the second, too slow", ["save_rows"]),
        ("that one", []),
    ],
)
def test_what_stands_behind_a_number_may_be_the_verb(query: str, names: list[str]) -> None:
    conversation = talk(FUNCTIONS, "what is slow?", "Two functions: load_rows and save_rows.")
    assert meant(query, conversation) == names


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["qui s'en sert ?", "teste-la", "et son dernier argument, il sert à quoi ?"])
def test_french_says_of_it_in_one_word(query: str) -> None:
    assert meant(query, talk(FUNCTIONS[:1], "regarde load_rows")) == ["load_rows"]


@pytest.mark.requirement("REFS-1")
def test_what_a_thing_has_is_known_behind_its_adjective() -> None:
    conversation = talk(
        (*FUNCTIONS[:1], ("test", "test_rows")), "load_rows takes a path", "It does.", "test_rows fails"
    )
    assert meant("and its path argument, is it checked?", conversation) == ["load_rows"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["what did we fix yesterday?", "¿qué arreglamos ayer?", "o que consertamos ontem?"])
def test_what_was_fixed_is_a_bug(query: str) -> None:
    known = [Entity("b", "bug", "lost rows"), Entity("f", "function", "load_rows")]
    turns = [
        Turn("r", NOW - _DAY, "user", "lost rows again: load_rows"),
        Turn("s", NOW - 60_000, "user", "load_rows is slow"),
    ]
    assert [x.name for x in ask(query, Conversation(known, turns, "s")).entities] == ["lost rows"]


@pytest.mark.requirement("REFS-1")
def test_a_phrase_is_mentioned_once_where_its_words_stand_apart_and_together() -> None:
    options = (("decision", "a local disk"), ("decision", "files on S3"), ("decision", "a tape"))
    conversation = talk(options, "where to?", "Three ways: 1) a local disk, 2) files on S3, 3) a tape.")
    assert ask("take that one", conversation).status is Status.AMBIGUOUS


@pytest.mark.requirement("REFS-1")
def test_a_pronoun_agrees_with_the_noun_in_a_name() -> None:
    known = (("bug", "fuga de conexiones"), ("function", "abrir"))
    assert meant("arréglala", talk(known, "hay una fuga de conexiones")) == ["fuga de conexiones"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    "query",
    ["open the last of them", "abre la última de ellas", "ouvre la dernière d'entre elles", "abre a última delas"],
)
def test_the_many_that_one_is_picked_from_are_not_meant_as_well(query: str) -> None:
    conversation = talk(FUNCTIONS, "what is slow?", "Two functions: load_rows and save_rows.")
    assert meant(query, conversation) == ["save_rows"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["what did we push yesterday?", "qu'a-t-on poussé hier ?", "¿qué subimos ayer?"])
def test_what_was_done_in_a_time_is_all_that_was_done_in_it(query: str) -> None:
    known = [Entity(name, "commit", name) for name in ("c0ffee1", "0ldc0de", "ba5eba1")]
    said = [(2, "pushed c0ffee1"), (1, "pushed 0ldc0de: the parser"), (1, "and ba5eba1 behind it"), (0, "good morning")]
    turns = [Turn("s" if not days else f"s{days}", NOW - days * _DAY, "assistant", text) for days, text in said]
    assert [x.name for x in ask(query, Conversation(known, turns, "s")).entities] == ["0ldc0de", "ba5eba1"]


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize("query", ["¿y sus llamadas?", "et ses appels ?", "e suas chamadas?", "and its calls?"])
def test_calls_are_a_function_s(query: str) -> None:
    conversation = talk(FUNCTIONS, "load_rows fills RowCache")
    assert meant(query, conversation) == ["load_rows"]
