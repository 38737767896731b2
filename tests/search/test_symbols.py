"""Definitions found by what they do, in four languages, through the services and every door."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ovillo.app import open_services
from ovillo.interfaces.rest import ENDPOINTS
from ovillo.interfaces.services import Services
from ovillo.interfaces.tools.registry import Registry
from ovillo.model.errors import InvalidInput
from ovillo.model.records import DEFAULT_NAMESPACE as NS
from ovillo.model.records import Namespace
from ovillo.search.lexicon import COLUMNS, entries, topics
from ovillo.search.symbols import service as symbol_service
from tests.code.projects import write
from tests.interfaces.cli_runs import CommandLine
from tests.interfaces.http.serving import serving
from tests.interfaces.opened import call, settings_for

FILES = {
    "shop/payments.py": '''
class PaymentError(Exception):
    """A payment could not be made."""


class PaymentProcessor:
    """Talks to the bank."""

    def process_payment(self, amount, card):
        """Charge a card."""

    def refund(self, payment_id):
        """Give the money back."""


def validate_card_number(number):
    """Check the digits."""


def _validate_card_expiry(month, year): ...
''',
    "shop/users.py": """
def create_user(name, email): ...


def delete_user(user_id): ...


def hash_password(password): ...


class UserSession:
    def close(self): ...

    def is_expired(self): ...
""",
    "shop/storage/cfg.py": """
def load_config(path): ...


def get_db_conn(): ...


def send_email(to, subject): ...
""",
    "tests/test_users.py": "def test_create_user(): ...\n",
    "legado/pedidos.py": '''
def calcular_total_pedido(lineas):
    """Suma las líneas del pedido."""


def enviar_factura(cliente): ...
''',
    "legado/facturation.py": """
def envoyer_commande(client): ...


def supprimer_utilisateur(identifiant): ...
""",
    "legado/estoque.py": """
def atualizar_estoque(produto): ...


def buscar_cliente(nome): ...
""",
}


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    home = tmp_path_factory.mktemp("home")
    services = open_services(settings_for(home))
    services.code.index(NS, write(home / "project", FILES))
    yield services
    services.close()


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Services]:
    services = open_services(settings_for(tmp_path))
    services.code.index(NS, write(tmp_path / "project", FILES))
    yield services
    services.close()


def names(services: Services, question: str, limit: int = 3) -> list[str]:
    return [one.symbol.qualified_name for one in services.symbols.find(NS, question, limit=limit).symbols]


@pytest.mark.requirement("SYMBOLS-1")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("la función de pago", "PaymentProcessor.process_payment"),
        ("crear un usuario", "create_user"),
        ("borrar el usuario", "delete_user"),
        ("where do we load the configuration", "load_config"),
        ("the database connection", "get_db_conn"),
        ("remove a user", "delete_user"),
        ("la fonction qui supprime un utilisateur", "delete_user"),
        ("créer un utilisateur", "create_user"),
        ("envoyer un courriel", "send_email"),
        ("fechar a sessão do usuário", "UserSession.close"),
        ("apagar o usuário", "delete_user"),
        ("carregar a configuração", "load_config"),
        ("valida el card number", "validate_card_number"),
        ("la method que hace el refund", "PaymentProcessor.refund"),
    ],
)
def test_a_definition_is_found_by_what_it_does(opened: Services, question: str, wanted: str) -> None:
    assert wanted in names(opened, question)


@pytest.mark.requirement("SYMBOLS-6")
@pytest.mark.parametrize(
    ("question", "wanted"),
    [
        ("calcula el total de los pedidos", "calcular_total_pedido"),
        ("send the invoice", "enviar_factura"),
        ("mettre à jour le stock", "atualizar_estoque"),
        ("eliminar al usuario", "supprimer_utilisateur"),
        ("find the customer", "buscar_cliente"),
    ],
)
def test_code_in_other_languages_is_found_too(opened: Services, question: str, wanted: str) -> None:
    assert wanted in names(opened, question, 5)


@pytest.mark.requirement("SYMBOLS-2")
def test_what_is_named_comes_first(opened: Services) -> None:
    (first, *_) = opened.symbols.find(NS, "¿qué usuario crea `refund`?").symbols
    assert (first.symbol.name, first.found_by) == ("refund", "name")
    assert names(opened, "refund", 1) == ["PaymentProcessor.refund"]
    assert names(opened, "call get_db_conn() first", 1) == ["get_db_conn"]
    assert names(opened, "PaymentProcessor.refund", 1) == ["PaymentProcessor.refund"]


@pytest.mark.requirement("SYMBOLS-9")
def test_the_kind_that_is_asked_for_comes_first_and_tests_come_last(opened: Services) -> None:
    assert names(opened, "la excepción de los pagos", 1) == ["PaymentError"]
    assert names(opened, "the class for payments", 1)[0].startswith("Payment")
    assert names(opened, "crear usuario", 2)[0] == "create_user"
    assert "test_create_user" in names(opened, "crear usuario", 10)


@pytest.mark.requirement("SYMBOLS-4")
def test_a_result_says_what_it_answers(opened: Services) -> None:
    (first, *_) = opened.symbols.find(NS, "borrar al usuario").symbols
    told = {match.word: (match.found, match.how) for match in first.matches}
    assert told == {"borrar": ("delete", "translation"), "usuario": ("user", "translation")}
    assert all("name" in match.where for match in first.matches)
    assert 0.8 < first.worth <= 1.0


@pytest.mark.requirement("SYMBOLS-5")
def test_what_changed_is_found_and_what_is_gone_is_not(own: Services) -> None:
    (root,) = own.code.roots(NS)
    assert names(own, "borrar al usuario", 1) == ["delete_user"]
    file = Path(root.path, "shop/users.py")
    file.write_text("def erase_account(user): ...\n\n\ndef print_receipt(order): ...\n", encoding="utf-8")
    own.code.index(NS, root.path)
    assert names(own, "imprimir el recibo", 1) == ["print_receipt"]
    assert "delete_user" not in names(own, "borrar al usuario", 20)
    own.code.forget(NS, root.path)
    assert names(own, "imprimir el recibo") == []


@pytest.mark.requirement("SYMBOLS-10")
def test_of_a_very_large_folder_a_part_is_held_and_the_answer_says_so(
    own: Services, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(symbol_service, "MOST_OF_ONE", 10)
    found = own.symbols.find(NS, "process payment")
    assert [one.symbol.name for one in found.symbols][:1] == ["process_payment"]
    (note,) = found.notes
    assert "left out" in note
    assert [x.symbol.name for x in own.symbols.find(NS, "buscar_cliente").symbols][:1] == ["buscar_cliente"]


@pytest.mark.requirement("SYMBOLS-7")
def test_another_namespace_finds_nothing(opened: Services) -> None:
    assert opened.symbols.find(Namespace("other"), "borrar al usuario").symbols == ()
    assert opened.symbols.described(Namespace("other"), "borrar al usuario") == []


@pytest.mark.requirement("SYMBOLS-7")
def test_the_tool_finds_and_says_why(opened: Services) -> None:
    registry = Registry.choose(("context",))
    result = call(opened, "find_symbol", registry=registry, query="la función que borra usuarios", limit=2)
    assert result.structured is not None
    (first, *_) = result.structured["symbols"]
    assert (first["name"], first["file"]) == ("delete_user", "shop/users.py")
    assert "borra -> delete (translation; name)" in first["why"]
    assert "shop/users.py, lines 5-5" in result.text
    assert "Nothing fits" in call(opened, "find_symbol", registry=registry, query="zzqx").text
    assert call(opened, "find_symbol", registry=registry, query=" ").is_error


@pytest.mark.requirement("SYMBOLS-7")
def test_the_command_takes_what_is_no_name_for_a_description(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = write(tmp_path / "project", FILES)
    line = CommandLine(capsys, tmp_path / "home", tmp_path / "data")
    assert line.run("code", "index", str(project)).code == 0
    found = line.run("code", "find", "la función que borra usuarios", "--json").json()
    assert found["symbols"][0]["qualified_name"] == "delete_user"
    assert found["symbols"][0]["found_by"] == "words"
    assert "translation" in line.run("code", "find", "la función que borra usuarios").out
    assert "found_by" not in line.run("code", "find", "delete_user", "--json").json()["symbols"][0]
    assert "Nothing is called" in line.run("code", "find", "zzqx").out


@pytest.mark.requirement("SYMBOLS-7")
def test_rest_finds_and_refuses_an_empty_question(own: Services) -> None:
    with serving(own.settings, endpoints=ENDPOINTS, services=own) as site:
        found = site.ask("GET", "/api/code/search?q=borrar%20al%20usuario&limit=1").json
        assert [(x["name"], x["found_by"]) for x in found["symbols"]] == [("delete_user", "words")]
        assert site.ask("GET", "/api/code/search?q=%20").status == 422


@pytest.mark.requirement("SYMBOLS-8")
def test_a_context_shows_code_that_is_described(opened: Services) -> None:
    answer = opened.context.get_context(NS, "la función que borra usuarios")
    assert "delete_user" in answer.content
    (place, *_) = [x for x in answer.provenance if x.kind == "code"]
    assert place.file == "shop/users.py"


@pytest.mark.requirement("SYMBOLS-8")
@pytest.mark.parametrize("question", ["¿qué tiempo hace hoy en Madrid?", "gracias por todo", "what a lovely morning"])
def test_what_speaks_of_no_code_brings_none(opened: Services, question: str) -> None:
    assert opened.symbols.described(NS, question) == []


@pytest.mark.requirement("SYMBOLS-3")
def test_the_lexicon_has_enough_words_of_each_language_and_whole_lines() -> None:
    rows = [row for topic in topics() for row in entries(topic)]
    assert all(len(row) == len(COLUMNS) and all(row) for row in rows)
    for column, language in enumerate(COLUMNS):
        assert len({word.lower() for row in rows for word in row[column]}) >= 1_500, language


@pytest.mark.requirement("SYMBOLS-3")
def test_the_projects_own_questions_are_whole_and_of_four_languages(fixtures: Path) -> None:
    lines = (fixtures / "symbol-queries.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    assert all(set(q) == {"id", "lang", "package", "query", "expected"} for q in questions)
    assert all(sum(q["lang"] == language for q in questions) >= 20 for language in ("es", "en", "fr", "pt"))


@pytest.mark.requirement("SYMBOLS-12")
def test_a_class_answers_where_several_of_its_members_do(tmp_path: Path) -> None:
    members = "\n".join(
        f"    def colour_{part}(self):\n        return 1\n" for part in ("keyword", "comment", "number")
    )
    project = write(tmp_path / "paint", {"brush.py": f"class Syntax:\n{members}"})
    opened = open_services(settings_for(tmp_path / "painted"))
    opened.code.index(NS, project)
    found = [one.symbol.qualified_name for one in opened.symbols.find(NS, "colour of keyword and comment").symbols]
    opened.close()
    assert "Syntax" in found[:2]


@pytest.mark.requirement("SYMBOLS-13")
def test_tests_stand_below_sources_unless_they_are_asked_for(tmp_path: Path) -> None:
    files = {
        "till.py": "def count_coins(box):\n    return len(box)\n",
        "tests/test_till.py": "def test_count_coins_of_a_full_box():\n    assert True\n",
    }
    opened = open_services(settings_for(tmp_path / "counted"))
    opened.code.index(NS, write(tmp_path / "shop2", files))
    sources = [one.symbol.name for one in opened.symbols.find(NS, "count the coins of a full box").symbols]
    tests = [one.symbol.name for one in opened.symbols.find(NS, "the test that counts coins of a full box").symbols]
    opened.close()
    assert sources[0] == "count_coins"
    assert tests[0] == "test_count_coins_of_a_full_box"


def test_questions_out_of_bounds_are_refused(opened: Services) -> None:
    for question, limit in (("", 10), ("x" * 2_000, 10), ("x", 0), ("x", 1_000)):
        with pytest.raises(InvalidInput):
            opened.symbols.find(NS, question, limit=limit)


@given(question=st.text(min_size=1, max_size=80).filter(lambda text: bool(text.split())))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_question_is_answered(opened: Services, question: str) -> None:
    found = opened.symbols.find(NS, question)
    assert all(0.0 <= one.worth <= 1.0 for one in found.symbols)
    opened.symbols.described(NS, question)


@pytest.mark.requirement("SYMBOLS-14")
def test_what_stands_in_bodies_puts_definitions_of_equal_names_in_order(own: Services, tmp_path: Path) -> None:
    files = {
        "shop/first.py": "def send_parcel(parcel):\n    return parcel\n",
        "shop/second.py": "def send_parcel(parcel):\n    # Tried again when the carrier refuses it.\n    return parcel\n",
        "shop/third.py": "\n".join(
            f"def weigh{n}(parcel):\n    # Sending: the carrier refuses what is heavy.\n    return {n}\n"
            for n in range(9)
        ),
    }
    root = write(tmp_path / "sending", files)
    own.code.index(NS, root)
    found = own.symbols.find(NS, "sending a parcel that the carrier refuses", root=str(root)).symbols
    sending = [one.symbol.file for one in found if one.symbol.name == "send_parcel"]
    assert found[0].symbol.file == "shop/second.py"
    assert sending == ["shop/second.py", "shop/first.py"]


#: Of one word of the question several words of the code; long bodies hold them near and far from each other.
_SYNONYMS = ("delete", "remove", "drop", "erase", "clear", "fetch", "get", "user", "account", "cookie", "session")

_ASK = """
import sys
from pathlib import Path
from ovillo.app import open_services
from ovillo.model.records import DEFAULT_NAMESPACE
from tests.interfaces.opened import settings_for
services = open_services(settings_for(Path(sys.argv[1])))
for question in ("where are cookies of a user deleted", "fetch and clear the session of an account"):
    for one in services.symbols.passages(DEFAULT_NAMESPACE, question, sys.argv[2:]):
        print(one.file, one.first, one.last, repr(one.worth))
services.close()
"""


def test_answers_are_the_same_whatever_order_sets_have_in_a_process(tmp_path: Path) -> None:
    files = {
        f"shop/part{n}.py": f"def work{n}(x):\n"
        + "".join(f"    {_SYNONYMS[(k * k + n * k) % 11]}_{_SYNONYMS[(k + n) % 7]}(x)\n" for k in range(120 + n))
        for n in range(12)
    }
    data = tmp_path / "data"
    services = open_services(settings_for(data))
    root = write(tmp_path / "long", files)
    services.code.index(NS, root)
    services.close()
    answers = {
        subprocess.run(
            [sys.executable, "-c", _ASK, str(data), str(root)],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            check=True,
            text=True,
            timeout=60,
        ).stdout
        for seed in range(4)
    }
    assert len(answers) == 1
    assert "shop/part" in answers.pop()
