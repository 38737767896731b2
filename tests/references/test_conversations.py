"""Conversations turn by turn through ``get_context``, in four languages and mixed, beside another project that knows better."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pytest

from ovillo.app import open_services
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Role, SessionId
from ovillo.security.principals import LOCAL
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from ovillo.settings import Settings

CARDS = '''"""Cards."""


def validate_card(number: str) -> bool:
    """Tells whether a card number passes the Luhn check."""
    return sum(int(x) for x in number) % 10 == 0


def mask(number: str) -> str:
    return "*" * (len(number) - 4) + number[-4:]
'''
PAYMENTS = '''from cards import validate_card


def process_payment(amount, card):
    """Takes a payment."""
    if not validate_card(card):
        raise ValueError(card)
    return amount
'''
ORDERS = '''def validate_order(order):
    """Validation of an order: the errors are listed."""
    return bool(order)
'''


class Talk:
    """One session of the shop, whose questions are recorded before they are asked, as clients do."""

    def __init__(self, services: Services, folder: Path) -> None:
        self._services = services
        row, _ = services.recorder.create(NS, SessionDraft(working_directory=str(folder)))
        self.id: SessionId = row.session.id

    def says(self, text: str) -> None:
        self._append(Role.ASSISTANT, text)

    def tells(self, text: str) -> None:
        self._append(Role.USER, text)

    def asks(self, text: str) -> dict[str, object]:
        self._append(Role.USER, text)
        result = Registry.of("get_context").dispatch(
            self._services, LOCAL, "get_context", {"query": text, "session_id": self.id}
        )
        assert result.structured is not None, result.text
        return {**result.structured, "text": result.text}

    def _append(self, role: Role, text: str) -> None:
        self._services.recorder.append(NS, self.id, [(MessageDraft(role, text), uuid4().hex)]).result(10)


Start = Callable[[], Talk]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    shop, orders = tmp_path / "shop", tmp_path / "orders"
    for folder, files in ((shop, {"cards.py": CARDS, "payments.py": PAYMENTS}), (orders, {"orders.py": ORDERS})):
        (folder / ".git").mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text)
    settings = Settings(tmp_path / "data", tmp_path, environment={"HOME": str(tmp_path)}, embedder="none")
    services = open_services(settings)
    services.code.index(NS, shop)
    services.code.index(NS, orders)
    other = Talk(services, orders)
    other.tells("Hay un bug en la validación: validate_order pierde errores. It's in the validation, the previous bug.")
    other.says("El bug anterior estaba en la validación; that function is validate_order.")
    yield lambda: Talk(services, shop)
    services.close()


@pytest.mark.requirement("CONTEXT-8", "CONTEXT-17")
@pytest.mark.parametrize(
    ("bug", "place", "asked_back", "yes", "who"),
    [
        (
            "Hay un bug en el pago",
            "Es en la validación",
            "¿Te refieres a validate_card en cards.py?",
            "Sí, esa función",
            "¿Y quién la llama?",
        ),
        (
            "There is a bug in the payment",
            "I think it's in the validation",
            "Do you mean validate_card in cards.py?",
            "Yes, that function",
            "And who calls it?",
        ),
        (
            "Il y a un bug dans le paiement",
            "C'est dans la validation",
            "Voulez-vous dire validate_card dans cards.py ?",
            "Oui, cette fonction",
            "Et qui l'appelle ?",
        ),
        (
            "Tem um bug no pagamento",
            "Acho que é na validação",
            "Você se refere a validate_card em cards.py?",
            "Sim, essa função",
            "E quem chama ela?",
        ),
        (
            "Hay un bug en el payment",
            "it's in the validation",
            "Do you mean validate_card in cards.py?",
            "sí, that function",
            "¿y quién la usa?",
        ),
    ],
)
@pytest.mark.parametrize("is_reply_recorded", [True, False])
def test_the_place_of_a_bug_is_asked_back_and_then_carried(
    start: Start, bug: str, place: str, asked_back: str, yes: str, who: str, is_reply_recorded: bool
) -> None:
    talk = start()
    talk.tells(bug)
    answer = talk.asks(place)
    assert (answer["abstained"], answer["question"]) == (True, asked_back)
    if is_reply_recorded:
        talk.says(asked_back)
    answer = talk.asks(yes)
    assert answer["resolved_entities"] == ["validate_card"]
    assert "passes the Luhn check" in str(answer["text"])
    talk.says("validate_card only sums the digits.")
    answer = talk.asks(who)
    assert answer["resolved_entities"] == ["validate_card"]


@pytest.mark.requirement("CONTEXT-17")
@pytest.mark.parametrize(
    "said", ["Es en la validación", "It's in the validation", "en la cocina", "it's in the kitchen"]
)
def test_a_place_without_a_matter_or_without_code_is_not_asked_back(start: Start, said: str) -> None:
    talk = start()
    if "kitchen" in said or "cocina" in said:
        talk.tells("There is a bug in the payment")
    answer = talk.asks(said)
    assert "validate_order" not in str(answer.get("question"))
    assert "validate_card" not in str(answer.get("question"))


@pytest.mark.requirement("REFS-10")
@pytest.mark.parametrize(
    ("bug", "query", "name"),
    [
        ("Hay un bug en el pago", "¿cómo va el bug anterior?", "bug en el pago"),
        ("There is a bug in the payment", "what about the previous bug?", "bug in the payment"),
        ("Il y a un bug dans le paiement", "et le bug précédent ?", "bug dans le paiement"),
        ("Tem um bug no pagamento", "e o bug anterior?", "bug no pagamento"),
    ],
)
def test_the_previous_bug_is_never_that_of_another_project(start: Start, bug: str, query: str, name: str) -> None:
    talk = start()
    talk.tells(bug)
    talk.says("…")
    answer = talk.asks(query)
    assert answer["resolved_entities"] == [name]
    assert "validate_order" not in str(answer["text"])


@pytest.mark.requirement("REFS-2")
@pytest.mark.parametrize(
    ("query", "question"),
    [
        ("rename it", "Which one do you mean by «it»: validate_card, process_payment?"),
        ("esa función va lenta", "¿Cuál quieres decir con «esa función»: validate_card, process_payment?"),
        ("cette fonction est lente", "Lequel voulez-vous dire par «cette fonction» : validate_card, process_payment ?"),
        ("essa função está lenta", "Qual você quer dizer com «essa função»: validate_card, process_payment?"),
    ],
)
def test_real_ambiguity_is_asked_back_with_the_candidates_in_the_language_of_the_question(
    start: Start, query: str, question: str
) -> None:
    talk = start()
    talk.tells("what changed?")
    talk.says("`validate_card()` and `process_payment()`.")
    answer = talk.asks(query)
    assert (answer["abstained"], answer["question"]) == (True, question)


@pytest.mark.requirement("REFS-1")
@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("what does the second one do?", ["process_payment"]),
        ("¿qué hace la primera?", ["validate_card"]),
        ("les deux sont testées ?", ["validate_card", "process_payment"]),
        ("as duas têm teste?", ["validate_card", "process_payment"]),
        ("explain both", ["validate_card", "process_payment"]),
        ("¿y la última?", ["process_payment"]),
    ],
)
def test_ordinals_and_plurals_mean_what_the_answer_listed(start: Start, query: str, names: list[str]) -> None:
    talk = start()
    talk.tells("what changed?")
    talk.says("Two functions changed: `validate_card()` and `process_payment()`.")
    assert talk.asks(query)["resolved_entities"] == names


@pytest.mark.requirement("REFS-13")
@pytest.mark.parametrize(
    ("said", "query", "names"),
    [
        ("Three options: S3, a local disk or MinIO.", "take the third option", ["MinIO"]),
        ("Hay tres opciones: S3, un disco local o MinIO.", "me quedo con la segunda", ["un disco local"]),
        ("Trois options : S3, un disque local ou MinIO.", "prends le troisième", ["MinIO"]),
        ("Três opções: S3, um disco local ou MinIO.", "fica com a primeira", ["S3"]),
        ("Options:\n- S3: far away\n- a local disk: full\n- MinIO: new", "and the last one?", ["MinIO"]),
        (
            "Two bugs: the total is wrong, and the mail goes out twice.",
            "fix the second one",
            ["the mail goes out twice"],
        ),
    ],
)
def test_what_is_only_told_in_a_list_can_be_picked_from_it(
    start: Start, said: str, query: str, names: list[str]
) -> None:
    talk = start()
    talk.tells("what do we have?")
    talk.says(said)
    assert talk.asks(query)["resolved_entities"] == names


@pytest.mark.requirement("REFS-2")
def test_one_of_two_bugs_that_were_told_in_one_breath_is_asked_back(start: Start) -> None:
    talk = start()
    talk.tells("Tenemos dos errores: el pago se cobra dos veces y la máscara sale mal")
    talk.says("Vale.")
    answer = talk.asks("¿ese error es viejo?")
    assert "¿Cuál quieres decir con «ese error»: " in str(answer["question"])
    assert "el pago se cobra dos veces" in str(answer["question"])


@pytest.mark.requirement("REFS-10")
def test_what_has_no_noun_never_reaches_back_into_another_session(start: Start) -> None:
    before = start()
    before.tells("There is a bug in the payment")
    before.says("It is the double payment bug.")
    talk = start()
    talk.tells("où stocker les fichiers ?")
    talk.says("Sur un disque.")
    talk.tells("bon")
    assert not talk.asks("pourquoi celui-là ?").get("resolved_entities")


@pytest.mark.requirement("CONTEXT-8")
def test_several_that_are_meant_are_told_in_one_sentence(start: Start) -> None:
    talk = start()
    talk.tells("¿qué cambió?")
    talk.says("Dos funciones: `validate_card()` y `process_payment()`.")
    text = str(talk.asks("compara ambas")["text"])
    assert "«ambas»: la función validate_card en cards.py" in text
    assert "; la función process_payment en payments.py" in text
