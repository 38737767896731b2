"""Indexing folders and asking the index, through the service over a real store."""

from __future__ import annotations

import json
import multiprocessing
import os
import threading
from pathlib import Path

import pytest

from ovillo.app import open_services
from ovillo.code.indexing import IndexProgress
from ovillo.code.watching import CodeWatcher
from ovillo.interfaces.services import Services
from ovillo.model.code import SymbolRow
from ovillo.model.errors import Ambiguous, InvalidInput, NotFound, PermissionDenied
from ovillo.model.records import Namespace, Role, ToolCall, ToolStatus
from ovillo.sessions.drafts import MessageDraft, SessionDraft
from tests.code.projects import NS, commit, shop, write
from tests.interfaces.opened import made, settings_for

__all__ = ["made"]


def one(services: Services, name: str) -> SymbolRow:
    (row,) = services.code.find(NS, name)
    return row


@pytest.fixture
def project(made: Services, fixtures: Path, tmp_path: Path) -> Path:
    root = shop(fixtures, tmp_path)
    made.code.index(NS, root)
    return root


@pytest.mark.requirement("CODE-7")
def test_a_second_look_reads_only_what_changed(made: Services, project: Path) -> None:
    again = made.code.index(NS, project)
    assert (again.files, again.read, again.removed) == (6, 0, 0)
    card = project / "card_validator.py"
    before = card.stat()
    card.write_text(card.read_text(encoding="utf-8").replace("luhn", "lulu"), encoding="utf-8")
    (project / "web" / "prices.ts").unlink()
    write(project, {"web/new.py": "def fresh(): pass\n"})
    third = made.code.index(NS, project)
    assert (third.read, third.removed) == (2, 1)
    assert [made.code.find(NS, name) != [] for name in ("lulu", "luhn", "fresh", "price")] == [True, False, True, False]
    # The same size at the same time: noticed, because the file was too young to be sure of when it was read.
    card.write_text(card.read_text(encoding="utf-8").replace("lulu", "lala"), encoding="utf-8")
    os.utime(card, ns=(before.st_atime_ns, before.st_mtime_ns))
    made.code.index(NS, project)
    assert one(made, "lala")


@pytest.mark.requirement("CODE-7")
def test_one_edited_file_is_read_by_itself(made: Services, project: Path, tmp_path: Path) -> None:
    path = project / "card_validator.py"
    path.write_text("\n\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    (report,) = made.code.update(NS, [path, tmp_path / "elsewhere.py", project / "notes.txt"])
    assert report.read == 1
    assert one(made, "validate_card").start_line == 7
    path.unlink()
    made.code.update(NS, [path])
    assert made.code.find(NS, "validate_card") == []


@pytest.mark.requirement("CODE-7")
def test_a_touched_file_is_not_read_again_and_progress_is_told(made: Services, project: Path) -> None:
    os.utime(project / "card_validator.py", ns=(1, 1))
    told: list[IndexProgress] = []
    revision = made.store.code.revision(NS)
    report = made.code.index(NS, project, told.append)
    assert report.read == 0
    assert [(step.files, step.total) for step in told] == [(1, 1)]
    assert made.store.code.revision(NS) == revision


@pytest.mark.requirement("CODE-8")
def test_definitions_are_found_by_name_owner_file_beginning_and_place(made: Services, project: Path) -> None:
    names = {
        given: [row.qualified_name for row in made.code.find(NS, given)]
        for given in ("refund", "REFUND", "PaymentProcessor.refund", "payment_processor.py:refund", "valid*", "nothing")
    }
    assert names == {
        "refund": ["PaymentProcessor.refund"],
        "REFUND": ["PaymentProcessor.refund"],
        "PaymentProcessor.refund": ["PaymentProcessor.refund"],
        "payment_processor.py:refund": ["PaymentProcessor.refund"],
        "valid*": ["validate_card"],
        "nothing": [],
    }
    assert [row.qualified_name for row in made.code.find(NS, "card_validator.luhn")] == ["luhn"]
    around = made.code.at(NS, "card_validator.py", 11)
    assert [row.qualified_name for row in around] == ["luhn.digit", "luhn"]
    inside = made.code.function_at(NS, str(project / "payment_processor.py"), 24)
    assert inside is not None
    assert inside.qualified_name == "PaymentProcessor.refund"
    with pytest.raises(NotFound):
        made.code.symbols_of(NS, "missing.py")


@pytest.mark.requirement("CODE-9")
def test_calls_are_resolved_through_imports_classes_and_aliases(made: Services, project: Path) -> None:
    pay = one(made, "process_payment")
    graph = made.code.calls(NS, str(project))
    resolved = {call.name: ([t.qualified_name for t in r.targets], r.rule) for call, r in graph.callees(pay)}
    assert resolved["refund"] == (["PaymentProcessor.refund"], "receiver")
    assert resolved["log_transaction"] == (["log_transaction"], "scope")
    assert resolved["ValueError"] == ([], "none")
    callers = made.code.callers(NS, one(made, "validate_card"))
    assert [(x.symbol and x.symbol.name, x.line, x.rule) for x in callers] == [("process_payment", 35, "import")]
    own = made.code.callers(NS, one(made, "_log"))
    assert [(x.symbol and x.symbol.name, x.rule) for x in own] == [("refund", "scope")]
    assert [x.file for x in made.code.callers(NS, one(made, "price"))] == ["web/cart.ts"]


@pytest.mark.requirement("CODE-9")
def test_receivers_are_what_the_file_says_they_are(made: Services, tmp_path: Path) -> None:
    root = write(
        tmp_path / "p",
        {
            "kit/__init__.py": "from .card import Card\n",
            "kit/card.py": "class Base:\n    def save(self): pass\n\nclass Card(Base):\n    def pay(self) -> 'Card': pass\n",
            "kit/time.py": "def pay(): pass\n",
            "use.py": (
                "import time\nimport kit\nfrom other import Card as Foreign\n"
                "def by_type(card: kit.Card | None): card.save()\n"
                "def by_value():\n    card = kit.Card()\n    card.pay().save()\n"
                "class Shop:\n    def __init__(self): self.card = kit.Card()\n    def buy(self): self.card.pay()\n"
                "def elsewhere(x: Foreign, pay):\n    x.pay()\n    pay()\n    time.pay()\n"
            ),
        },
    )
    made.code.index(NS, root)
    called = {
        (name, call.receiver, call.name): ([x.qualified_name for x in found.targets], found.rule)
        for name in ("by_type", "by_value", "buy", "elsewhere")
        for call, found in made.code.calls(NS, str(root)).callees(one(made, name))
    }
    assert called == {
        ("by_type", "card", "save"): (["Base.save"], "receiver"),
        ("by_value", "kit", "Card"): (["Card"], "import"),
        ("by_value", "card", "pay"): (["Card.pay"], "receiver"),
        ("by_value", "card.pay()", "save"): (["Base.save"], "receiver"),
        ("buy", "self.card", "pay"): (["Card.pay"], "receiver"),
        ("elsewhere", "x", "pay"): ([], "none"),
        ("elsewhere", None, "pay"): ([], "none"),
        ("elsewhere", "time", "pay"): ([], "none"),
    }


@pytest.mark.requirement("CODE-9")
def test_a_word_for_the_class_above_is_one_only_in_the_languages_that_have_it(made: Services, tmp_path: Path) -> None:
    """``base`` is a word of C#, and in Python whatever somebody called so."""
    root = write(
        tmp_path / "words",
        {
            "ledger.py": "class Above:\n    def close(self): pass\n\nclass Ledger(Above):\n    def run(self, base): base.close()\n",
            "Ledger.cs": "class Above {\n  void Close() {}\n}\nclass Ledger : Above {\n  void Run() { base.Close(); }\n}\n",
        },
    )
    made.code.index(NS, root)
    assert [x.rule for x in made.code.callers(NS, one(made, "close"))] == ["name"]
    assert [x.rule for x in made.code.callers(NS, one(made, "Close"))] == ["scope"]


def test_tests_are_linked_to_what_they_exercise(made: Services, project: Path) -> None:
    graph = made.code.calls(NS, str(project))
    tests = {
        name: [x.qualified_name for x in graph.tests_of(one(made, name))]
        for name in ("luhn", "process_payment", "checkout")
    }
    assert tests == {
        "luhn": ["TestLuhn.test_zero"],
        "process_payment": ["test_a_valid_card_pays"],
        "checkout": ["cart.costs nothing when empty"],
    }


@pytest.mark.requirement("CODE-10")
def test_modules_know_what_they_import_and_who_imports_them(made: Services, project: Path) -> None:
    nodes = {node.path: node for node in made.code.graph(NS, str(project))}
    pay = nodes["payment_processor.py"]
    assert pay.imports == ("logging", "card_validator", "database")
    assert pay.imports_files == ("card_validator.py",)
    assert pay.imported_by == ("tests/test_payment.py",)
    assert nodes["web/cart.ts"].imports_files == ("web/prices.ts",)
    assert nodes["web/cart.test.ts"].is_test
    drawn = made.code.picture(NS, str(project))
    assert drawn.startswith("<svg")
    assert drawn.count('class="box') == 6
    assert "payment_processor.py → card_validator.py" in drawn


@pytest.mark.requirement("CODE-11")
def test_the_exports_have_the_shape_of_the_specification(made: Services, project: Path, tmp_path: Path) -> None:
    function_map, graph = made.code.export(NS, str(project), tmp_path / "out")
    functions = json.loads(function_map.read_text(encoding="utf-8"))
    assert list(functions) == ["functions", "classes"]
    pay = next(x for x in functions["functions"] if x["name"] == "process_payment")
    assert pay.pop("last_modified").endswith("Z")
    assert pay == {
        "name": "process_payment",
        "module": "payment_processor.py",
        "signature": "process_payment(amount: float, card: Card) -> Result",
        "line_range": [30, 38],
        "doc_summary": "Procesa pago con validación de tarjeta.",
        "dependencies": ["check", "ValueError", "log_transaction", "refund", "PaymentProcessor"],
    }
    assert {
        "name": "PaymentProcessor",
        "module": "payment_processor.py",
        "methods": ["__init__", "refund", "_log"],
        "line_range": [15, 27],
    } in functions["classes"]
    modules = json.loads(graph.read_text(encoding="utf-8"))["modules"]
    assert modules["payment_processor.py"] == {
        "imports": ["logging", "card_validator", "database"],
        "exports": ["PaymentProcessor", "process_payment"],
        "related_features": ["#77"],
    }
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput):
        made.code.export(NS, str(project), tmp_path / "file")


@pytest.mark.requirement("CODE-12")
def test_tickets_and_last_changes_come_from_commits(made: Services, project: Path) -> None:
    commit(project, "PAY-9: pay by card")
    write(project, {"card_validator.py": "def validate_card(card):\n    return True\n"})
    commit(project, "Simplify cards (#12)\n\nRefs SHOP-4, encoded as UTF-8")
    made.code.index(NS, project)
    nodes = {node.path: node for node in made.code.graph(NS, str(project))}
    assert nodes["payment_processor.py"].related_features == ("#77", "PAY-9")
    assert nodes["card_validator.py"].related_features == ("#12", "PAY-9", "SHOP-4")
    change = made.code.show(NS, one(made, "validate_card")).last_change
    assert change is not None
    assert (change.summary, change.author) == ("Simplify cards (#12)", "Ana")
    write(project, {"card_validator.py": "def validate_card(card):\n    return False\n"})
    made.code.index(NS, project)
    change = made.code.show(NS, one(made, "validate_card")).last_change
    assert change is not None
    assert change.commit is None


@pytest.mark.requirement("CODE-12")
def test_tickets_come_from_the_sessions_that_changed_a_file(made: Services, project: Path) -> None:
    row, _ = made.recorder.create(NS, SessionDraft(working_directory=str(project)))
    target = str(project / "payment_processor.py")
    edit = ToolCall("edit", "c1", {"file_path": target}, "done", status=ToolStatus.COMPLETED)
    said = MessageDraft(Role.ASSISTANT, "I do CARDS-31 now.", tool_calls=(edit,))
    made.recorder.append(NS, row.session.id, [(said, "key-1")]).result(10)
    made.entities.entities_of_session(NS, row.session.id)
    made.code.index(NS, project)
    nodes = {node.path: node.related_features for node in made.code.graph(NS, str(project))}
    assert "CARDS-31" in nodes["payment_processor.py"]
    assert "CARDS-31" not in nodes["card_validator.py"]


@pytest.mark.requirement("CODE-13")
def test_source_is_read_from_disk_and_follows_an_edit(made: Services, project: Path) -> None:
    luhn = one(made, "luhn")
    path = project / "card_validator.py"
    path.write_text("# a new first line\n" + path.read_text(encoding="utf-8"), encoding="utf-8")
    lines = made.code.source_of(NS, luhn)
    assert lines.text.startswith("def luhn(number: str)")
    assert (lines.first, lines.last) == (10, 14)
    path.write_text("", encoding="utf-8")
    with pytest.raises(NotFound):
        made.code.source_of(NS, luhn)


@pytest.mark.requirement("CODE-13")
def test_only_files_below_indexed_folders_are_read(made: Services, project: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("key = 1\n", encoding="utf-8")
    (project / "link.py").symlink_to(secret)
    for name in ("../secret.py", "link.py", str(secret)):
        with pytest.raises(PermissionDenied):
            made.code.source(NS, str(project), name)
    with pytest.raises(NotFound):
        made.code.source(NS, str(tmp_path), "secret.py")


@pytest.mark.requirement("CODE-13")
def test_no_line_of_a_body_and_no_secret_is_stored(made: Services, tmp_path: Path) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    root = write(
        tmp_path / "p", {"a.py": f'def f(token="{token}"):\n    """Uses {token}."""\n    unusual_body = 12345678\n'}
    )
    made.code.index(NS, root)
    (row,) = made.code.find(NS, "f")
    assert token not in row.signature + row.doc
    data = b"".join(path.read_bytes() for path in made.settings.data_dir.glob("ovillo.db*"))
    assert b"unusual_body" not in data
    assert token.encode() not in data


@pytest.mark.requirement("CODE-19")
def test_words_of_bodies_and_of_texts_beside_the_code_are_kept_without_secrets(made: Services, tmp_path: Path) -> None:
    files = {
        "a.py": 'def reach(host):\n    # The harbour master decides.\n    password = "Zebrafinch#2024x"\n    return dial(host, password)\n',
        "docs/guide.md": "Ships moor at the quay.\n\npassword: Waxwing#2024x\n",
        "big.json": '{"heron": "' + "x" * 300_000 + '"}',
    }
    root = write(tmp_path / "p", files)
    report = made.code.index(NS, root)
    assert (report.files, report.read) == (1, 1)
    held = made.store.code.bodies_holding(NS, str(root), ["harbour", "quay", "zebrafinch", "waxw", "heron"], most=9)
    assert sorted(held) == ["harbour", "quay"]
    (body,) = made.store.code.bodies(NS, str(root), held["quay"])
    assert (body.file, body.symbol, body.first) == ("docs/guide.md", None, 1)
    (root / "docs" / "guide.md").write_text("Ships anchor in the bay.\n")
    assert made.code.index(NS, root).read == 0
    assert sorted(made.store.code.bodies_holding(NS, str(root), ["quay", "bay"], most=9)) == ["bay"]


@pytest.mark.requirement("CODE-14")
def test_roots_are_chosen_by_path_or_name_and_kept_apart_by_namespace(
    made: Services, project: Path, tmp_path: Path
) -> None:
    assert made.code.root(NS, project / "web") == made.code.root(NS, "shop") == made.code.root(NS) == str(project)
    other = write(tmp_path / "other", {"a.py": "def refund(): pass\n"})
    made.code.index(NS, other)
    with pytest.raises(Ambiguous):
        made.code.root(NS)
    assert len(made.code.find(NS, "refund")) == 2
    assert [row.root for row in made.code.find(NS, "refund", root=str(other))] == [str(other)]
    team = Namespace("team")
    assert made.code.find(team, "refund") == []
    with pytest.raises(NotFound):
        made.code.source(team, str(project), "card_validator.py")
    made.code.forget(NS, other)
    assert [root.path for root in made.code.roots(NS)] == [str(project)]
    for wrong, error in ((tmp_path / "no", NotFound), (project / "card_validator.py", InvalidInput)):
        with pytest.raises(error):
            made.code.index(NS, wrong)


def _index(home: str, root: str) -> None:
    services = open_services(settings_for(Path(home)))
    services.code.index(NS, root)
    services.close()


@pytest.mark.requirement("CODE-15")
def test_two_processes_index_one_folder_and_find_what_one_finds(made: Services, project: Path, tmp_path: Path) -> None:
    write(project, {f"many/m{n}.py": f"def many_{n}(): return refund()\n" for n in range(150)})
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_index, args=(str(tmp_path), str(project))) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0, 0]
    assert len(made.code.find(NS, "many_*", limit=500)) == 150
    assert made.code.index(NS, project).read == 0


@pytest.mark.requirement("CODE-16")
def test_watching_shows_an_edit_a_new_folder_and_a_deletion(made: Services, project: Path) -> None:
    stop, changed = threading.Event(), threading.Semaphore(0)
    watching = CodeWatcher(made.code, lambda _: changed.release())
    watcher = threading.Thread(target=watching.run, args=(stop,))
    write(project, {"card_validator.py": "def before_watching(): pass\n"})
    watcher.start()
    try:
        assert changed.acquire(timeout=20)
        for files, name in (
            ({"card_validator.py": "def edited(): pass\n"}, "edited"),
            ({"deep/er/x.py": "def deep(): pass\n"}, "deep"),
        ):
            for _ in range(200):
                write(project, files)
                if changed.acquire(timeout=0.3) and made.code.find(NS, name):
                    break
            assert made.code.find(NS, name)
    finally:
        stop.set()
        watcher.join(20)
    assert not watcher.is_alive()
