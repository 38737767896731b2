"""What a conversation is about: carried from turn to turn by what turns refer to, by verbs, by what things have."""

from __future__ import annotations

import pytest

from ovillo.references.model import Status
from tests.references.talks import ask, meant, talk

PRICES = (("function", "clamp_discount"), ("function", "round_price"), ("function", "tax_for"))


@pytest.mark.requirement("REFS-9")
@pytest.mark.parametrize(
    ("turns", "query"),
    [
        (("what is slow?", "clamp_discount, round_price and tax_for.", "the third is the worst", "Yes."), "rewrite it"),
        (("¿qué va lento?", "clamp_discount, round_price y tax_for.", "la tercera es la peor", "Sí."), "reescríbela"),
        (("c'est lent où ?", "clamp_discount, round_price et tax_for.", "la troisième surtout", "Oui."), "réécris-la"),
        (
            ("o que está lento?", "clamp_discount, round_price e tax_for.", "a terceira é a pior", "Sim."),
            "reescreve ela",
        ),
    ],
)
def test_what_a_turn_refers_to_is_what_the_next_one_speaks_of(turns: tuple[str, ...], query: str) -> None:
    assert meant(query, talk(PRICES, *turns)) == ["tax_for"]


@pytest.mark.requirement("REFS-9")
@pytest.mark.parametrize(
    ("turns", "query"),
    [
        (("look at clamp_discount", "Done.", "then round_price", "Both are old, you know."), "is that function pure?"),
        (("mira clamp_discount", "Hecho.", "luego round_price", "Las dos son viejas."), "¿esa función es pura?"),
    ],
)
def test_several_that_were_spoken_of_together_are_no_longer_told_apart(turns: tuple[str, ...], query: str) -> None:
    found = ask(query, talk(PRICES, *turns))
    assert found.status in (Status.AMBIGUOUS, Status.RESOLVED)
    (reference,) = found.references
    assert {x.entity.name for x in reference.candidates[:2]} == {"clamp_discount", "round_price"}


@pytest.mark.requirement("REFS-9")
@pytest.mark.parametrize("query", ["and the other?", "¿y la otra?", "et l'autre ?", "e a outra?"])
def test_the_other_of_two_that_nobody_chose_is_asked_back(query: str) -> None:
    found = ask(query, talk(PRICES, "what is slow?", "clamp_discount and round_price."))
    assert found.status is Status.AMBIGUOUS
    chosen = talk(PRICES, "what is slow?", "clamp_discount and round_price.", "start with the first one", "Done.")
    assert meant(query, chosen) == ["round_price"]


@pytest.mark.requirement("REFS-9")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("who calls it?", ["load_rows"]),
        ("show me its diff", ["c0ffee1"]),
        ("and its signature?", ["load_rows"]),
        ("enséñame su diff", ["c0ffee1"]),
        ("¿quién la llama?", ["load_rows"]),
        ("montre-moi son diff", ["c0ffee1"]),
        ("qui l'appelle ?", ["load_rows"]),
        ("mostra o seu diff", ["c0ffee1"]),
        ("quem chama ela?", ["load_rows"]),
    ],
)
def test_verbs_and_what_things_have_choose_between_equals(query: str, names: list[str]) -> None:
    known = (("function", "load_rows"), ("commit", "c0ffee1"))
    assert meant(query, talk(known, "since when is it slow?", "Since c0ffee1, which rewrote load_rows.")) == names


@pytest.mark.requirement("REFS-9")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("second one sounds sane", ["save_rows"]),
        ("segunda opción mejor", ["save_rows"]),
        ("neither function is mine", ["load_rows", "save_rows"]),
        ("¿la has ejecutado?", []),
        ("desecha la que guarda", ["save_rows"]),
        ("apaga a que guarda", ["save_rows"]),
        ("close the bug when you merge", ["lost rows"]),
        ("fecha o bug quando der merge", ["lost rows"]),
    ],
)
def test_short_and_clipped_phrases_are_read(query: str, names: list[str]) -> None:
    known = (("function", "load_rows"), ("function", "save_rows"), ("bug", "lost rows"))
    said = "what of the lost rows?", "Two functions touch them: load_rows, which carga, and save_rows, which guarda."
    assert meant(query, talk(known, *said)) == names


@pytest.mark.requirement("REFS-2")
@pytest.mark.parametrize(
    "query",
    [
        "how is it that nobody noticed",
        "I take it that you agree",
        "how long does it take to compile?",
        "it makes no difference to me",
        "ya me lo imaginaba",
        "je m'en doutais, je le savais",
        "i never said it",
        "it seems que o servidor caiu",
        "a que horas começa?",
        "acho que o banco caiu",
        "creo que la base está caída",
        "en los dos casos gana el servidor",
        "dans les deux cas on perd",
    ],
)
def test_what_stands_for_a_sentence_or_counts_no_things_of_the_project_is_no_reference(query: str) -> None:
    known = (("function", "load_rows"), ("function", "save_rows"))
    assert meant(query, talk(known, "load_rows and save_rows are slow", "load_rows is the worst.")) == []


THREE = (("function", "clamp"), ("function", "round_up"), ("function", "tax_for"))


@pytest.mark.requirement("REFS-11")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("and the next one?", ["round_up"]),
        ("¿y la siguiente?", ["round_up"]),
        ("et la suivante ?", ["round_up"]),
        ("e a próxima?", ["round_up"]),
        ("the next release is on Monday", []),
        ("la próxima vez probamos antes", []),
        ("rewrite all but the last", ["clamp", "round_up"]),
        ("todas menos la segunda necesitan un test", ["clamp", "tax_for"]),
        ("réécris-les toutes sauf la première", ["round_up", "tax_for"]),
        ("todas exceto a última", ["clamp", "round_up"]),
        ("add types to all three", ["clamp", "round_up", "tax_for"]),
        ("the remaining ones", ["round_up", "tax_for"]),
        ("the rest can wait", ["round_up", "tax_for"]),
        ("el resto puede esperar", ["round_up", "tax_for"]),
        ("las demás van bien", ["round_up", "tax_for"]),
        ("le reste peut attendre", ["round_up", "tax_for"]),
        ("o resto pode esperar", ["round_up", "tax_for"]),
        ("the rest of the week is free", []),
        ("the middle one", ["round_up"]),
        ("¿y la del medio?", ["round_up"]),
        ("celle du milieu", ["round_up"]),
        ("e a do meio?", ["round_up"]),
        ("and the function before that?", []),
        ("please do it", []),
        ("hazlo", []),
        ("fais-le", []),
    ],
)
def test_places_in_a_list_are_counted_as_people_count(query: str, names: list[str]) -> None:
    conversation = talk(THREE, "what is slow?", "Three: clamp, round_up and tax_for.", "start with clamp", "Done.")
    assert meant(query, conversation) == names


@pytest.mark.requirement("REFS-11")
@pytest.mark.parametrize("query", ["open the file where load_rows lives", "abre el archivo donde vive load_rows"])
def test_a_name_that_only_tells_which_one_is_not_meant_itself(query: str) -> None:
    known = (("function", "load_rows", "io/rows.py"), ("file", "io/rows.py"), ("file", "io/out.py"))
    assert meant(query, talk(known, "load_rows is slow", "It is in io/rows.py, and writes io/out.py.")) == [
        "io/rows.py"
    ]


@pytest.mark.requirement("REFS-1")
def test_a_noun_with_its_adverb_of_place_is_that_noun() -> None:
    conversation = talk((("bug", "lost rows"), ("test", "test_rows")), "lost rows again", "test_rows passes.")
    assert meant("ce bug-là, on l'a depuis quand ?", conversation) == ["lost rows"]


@pytest.mark.requirement("REFS-11")
def test_the_previous_of_two_that_were_listed_is_the_first() -> None:
    conversation = talk((("commit", "aaa1111"), ("commit", "bbb2222")), "pushed?", "Two commits, aaa1111 and bbb2222.")
    assert meant("the previous commit was mine", conversation) == ["aaa1111"]


@pytest.mark.requirement("REFS-12")
@pytest.mark.parametrize(
    "query",
    [
        "when the cache server restarts, does it keep the queue?",
        "which profile writers take their scripts from the merge?",
        "se quitó la gráfica, ¿la página todavía la carga?",
        "pourquoi l'historique n'a-t-il demandé aucune migration ?",
        "combien d'entrées cette liste compte-t-elle ?",
        "guardamos a chave privada cifrada se ela pode ser derivada?",
        "the worker crashed, did anybody restart it?",
        "al final, ¿qué se decidió de los de fuera?",
        "what was the kubernetes rollback procedure again",
        "quem cuida dos dois campos de script?",
    ],
)
def test_a_pronoun_whose_noun_stands_in_the_query_refers_to_nothing_said_before(query: str) -> None:
    known = (("function", "load_rows"), ("function", "save_rows"), ("class", "RowCache"))
    assert meant(query, talk(known, "load_rows and save_rows are slow", "RowCache is full, load_rows waits.")) == []


@pytest.mark.requirement("REFS-12")
@pytest.mark.parametrize("query", ["add a test for it", "añádele un test y ejecútala", "écris un test pour elle"])
def test_a_noun_of_the_same_clause_is_another_thing_than_the_pronoun(query: str) -> None:
    assert meant(query, talk((("function", "load_rows"),), "load_rows has no test")) == ["load_rows"]


@pytest.mark.requirement("REFS-9")
def test_a_place_in_a_list_is_one_in_the_list_that_is_being_picked_from() -> None:
    options = (("decision", "S3"), ("decision", "local disk"), ("decision", "MinIO"))
    said = (
        "where do we keep the files?",
        "Three options: S3, local disk or MinIO.",
        "the second one is out",
        "Then put_file and get_file have to change.",
    )
    conversation = talk((*options, ("function", "put_file"), ("function", "get_file")), *said)
    assert meant("and the first?", conversation) == ["S3"]
    assert meant("¿y la última?", conversation) == ["MinIO"]
    assert meant("the second function is old", conversation) == ["get_file"]
