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
