"""What every store must do for the code index. A store's own test file imports all of this."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ovillo.model.code import CodeBody, CodeCall, CodeFile, CodeImport, CodeSymbol, FileHistory, SymbolKind
from ovillo.model.errors import NotFound
from ovillo.model.records import DEFAULT_NAMESPACE, Namespace
from ovillo.store.protocol import CodeStore, Store

NS = DEFAULT_NAMESPACE
ROOT = "/w/shop"
PAY = CodeSymbol(
    SymbolKind.CLASS, "Payment", "Payment", 1, 30, "class Payment(Base)", "Pays.", None, ("Base",), True, False
)
REFUND = CodeSymbol(SymbolKind.METHOD, "refund", "Payment.refund", 10, 20, "refund(self)", "", "Payment")
FILE = CodeFile(
    "src/pay_v1.py",
    "python",
    100,
    5_000_000,
    b"d1",
    30,
    (PAY, REFUND),
    (CodeCall(1, "log", "self", 12), CodeCall(1, "log", None, 13), CodeCall(-1, "setup", None, 29)),
    (CodeImport("cards", (("check", "verify"),), 1), CodeImport("os", (), 2, "o")),
    ("Payment",),
    ("PAY-7",),
)


@pytest.fixture
def code(store: Store) -> CodeStore:
    return store.code


def _indexed(code: CodeStore) -> None:
    code.put_root(NS, ROOT)
    code.put_files(NS, ROOT, [FILE], at=1)


@pytest.mark.requirement("CODE-1")
def test_a_file_of_code_comes_back_as_it_was_stored(code: CodeStore) -> None:
    _indexed(code)
    first, second = code.symbols(NS)
    assert (first.root, first.file, first.kind, first.bases, first.is_exported) == (
        ROOT,
        "src/pay_v1.py",
        SymbolKind.CLASS,
        ("Base",),
        True,
    )
    assert (second.qualified_name, second.parent, second.start_line, second.end_line) == (
        "Payment.refund",
        "Payment",
        10,
        20,
    )
    module = code.module(NS, ROOT, "src/pay_v1.py")
    assert module is not None
    assert (module.imports, module.exports, module.tickets, module.mtime_ms) == (
        FILE.imports,
        FILE.exports,
        ("PAY-7",),
        5,
    )
    assert code.stamps(NS, ROOT) == {"src/pay_v1.py": (100, 5_000_000, b"d1")}
    assert code.stamps(NS, ROOT, ["src/pay_v1.py", "other.py"]) == code.stamps(NS, ROOT)
    assert code.stamps(NS, ROOT, ["other.py"]) == {}
    assert code.symbols_of_file(NS, ROOT, "src/pay_v1.py") == [first, second]
    assert code.symbols_by_id(NS, [second.id]) == [second]
    assert code.symbols(NS, after=first.id, limit=5) == [second]


@pytest.mark.requirement("CODE-1")
def test_calls_are_found_by_name_and_by_caller(code: CodeStore) -> None:
    _indexed(code)
    refund = code.symbols(NS)[1].id
    assert [(call.caller, call.receiver, call.line) for call in code.calls_named(NS, "log")] == [
        (refund, "self", 12),
        (refund, None, 13),
    ]
    assert [call.name for call in code.calls_from(NS, [refund])] == ["log", "log"]
    assert [call.name for call in code.calls_of_file(NS, ROOT, FILE.path)] == ["log", "log", "setup"]
    assert code.call_names(NS, ROOT) == {refund: ("log",)}


@pytest.mark.requirement("CODE-1")
def test_a_changed_file_replaces_what_was_known_and_ids_are_never_used_again(code: CodeStore) -> None:
    _indexed(code)
    old = code.symbols(NS)
    revision = code.revision(NS)
    code.put_files(NS, ROOT, [replace(FILE, symbols=(replace(PAY, name="Bill"),), calls=(), digest=b"d2")], at=2)
    (new,) = code.symbols(NS)
    assert new.name == "Bill"
    assert new.id > max(row.id for row in old)
    assert code.calls_named(NS, "log") == []
    assert code.revision(NS) > revision
    code.put_files(NS, ROOT, [], removed=[FILE.path], at=3)
    assert code.symbols(NS) == []
    assert code.modules(NS) == []


@pytest.mark.requirement("CODE-1")
def test_names_are_found_whole_in_any_case_and_by_their_beginning(code: CodeStore) -> None:
    _indexed(code)
    found = [
        [row.name for row in code.symbols_named(NS, name, **how)]  # type: ignore[arg-type]
        for name, how in (
            ("refund", {}),
            ("REFUND", {}),
            ("REFUND", {"any_case": True}),
            ("PAY", {"is_prefix": True}),
            ("%", {"is_prefix": True}),
            ("refund", {"root": "/elsewhere"}),
        )
    ]
    assert found == [["refund"], [], ["refund"], ["Payment"], [], []]


@pytest.mark.requirement("CODE-1")
def test_files_are_found_by_the_end_of_their_path_only_at_a_folder(code: CodeStore) -> None:
    _indexed(code)
    code.put_files(NS, ROOT, [replace(FILE, path="srcs/payxv1.py")], at=2)
    assert code.module_paths(NS, ROOT, "pay_v1.py") == ["src/pay_v1.py"]
    assert code.module_paths(NS, ROOT, "src/pay_v1.py") == ["src/pay_v1.py"]
    assert code.module_paths(NS, ROOT, "rc/pay_v1.py") == []


@pytest.mark.requirement("CODE-1")
def test_commits_of_a_file_outlive_its_changes(code: CodeStore) -> None:
    _indexed(code)
    code.put_history(NS, ROOT, {FILE.path: FileHistory("abc", 9, ("PAY-1",))})
    code.put_history(NS, ROOT, {FILE.path: FileHistory("def", 10, ("PAY-2",))})
    code.put_files(NS, ROOT, [replace(FILE, digest=b"d2")], at=2)
    module = code.module(NS, ROOT, FILE.path)
    assert module is not None
    assert module.history == FileHistory("def", 10, ("PAY-1", "PAY-2"))


@pytest.mark.requirement("CODE-1")
def test_roots_are_counted_listed_and_forgotten(code: CodeStore) -> None:
    _indexed(code)
    code.put_files(NS, ROOT, [replace(FILE, path="big.py", symbols=(), calls=(), skipped="too large")], at=1)
    code.put_root(NS, ROOT, indexed_at=77, facts={"head": "abc"})
    (root,) = code.roots(NS)
    assert (root.path, root.indexed_at, root.files, root.symbols, root.skipped, root.facts) == (
        ROOT,
        77,
        1,
        2,
        1,
        {"head": "abc"},
    )
    assert len(code.modules(NS)) == 1
    assert len(code.modules(NS, with_skipped=True)) == 2
    assert code.remove_root(NS, ROOT)
    assert not code.remove_root(NS, ROOT)
    assert (code.roots(NS), code.symbols(NS)) == ([], [])


@pytest.mark.requirement("CODE-1")
def test_code_of_one_namespace_is_not_seen_from_another(code: CodeStore) -> None:
    _indexed(code)
    other = Namespace("team")
    assert code.symbols(other) == []
    assert code.calls_named(other, "log") == []
    assert code.roots(other) == []
    assert code.revision(other) == 0
    with pytest.raises(NotFound, match="not indexed"):
        code.put_files(other, ROOT, [FILE], at=1)


@pytest.mark.requirement("CODE-14")
def test_vectors_of_definitions_are_kept_by_folder_and_model_and_go_with_the_folder(
    store: Store, code: CodeStore
) -> None:
    code.put_root(NS, "/w/a")
    vectors = store.code_vectors
    east = np.full(64, 1 / 8, np.float32)
    north = east * np.tile(np.array([1, -1], np.float32), 32)
    both = np.asarray(0.8 * east + 0.6 * north, np.float32)
    vectors.put(NS, "/w/a", "m", {b"one": east, b"two": east})
    vectors.put(NS, "/w/a", "m", {b"two": north, b"three": both}, gone=[b"one"])
    vectors.put(NS, "/nowhere", "m", {b"one": east})
    assert vectors.known(NS, "/w/a", "m") == {b"two", b"three"}
    assert [vectors.has_any(NS, root, "m") for root in ("/w/a", "/nowhere")] == [True, False]
    near = vectors.nearest(NS, "/w/a", "m", east, 9)
    assert list(near) == [b"three", b"two"]
    assert near == pytest.approx({b"three": 0.8, b"two": 0.0}, abs=0.02)
    assert list(vectors.nearest(NS, "/w/a", "m", north, 1)) == [b"two"]
    for namespace, model in ((NS, "other"), (Namespace("other"), "m")):
        assert vectors.known(namespace, "/w/a", model) == set()
        assert vectors.nearest(namespace, "/w/a", model, east, 9) == {}
    code.remove_root(NS, "/w/a")
    assert vectors.known(NS, "/w/a", "m") == set()
    assert vectors.nearest(NS, "/w/a", "m", east, 9) == {}


BODIES = (
    CodeBody(0, 1, 30, frozenset(("pay", "card"))),
    CodeBody(1, 10, 20, frozenset(("card", "expir", "año"))),
    CodeBody(-1, 31, 40, frozenset(("card", "limit"))),
)


@pytest.mark.requirement("CODE-19")
def test_words_of_bodies_are_found_by_term_in_their_folder_and_namespace(code: CodeStore) -> None:
    team = Namespace("team")
    for namespace, root in ((NS, ROOT), (NS, "/w/other"), (team, ROOT)):
        code.put_root(namespace, root)
    code.put_files(NS, ROOT, [replace(FILE, bodies=BODIES)], at=1)
    code.put_files(NS, "/w/other", [replace(FILE, bodies=BODIES[:1])], at=1)
    held = code.bodies_holding(NS, ROOT, ["card", "expir", "año", "nothing", "it's", '"'], most=10)
    assert {term: len(ids) for term, ids in held.items()} == {"card": 3, "expir": 1, "año": 1}
    assert len(code.bodies_holding(NS, ROOT, ["card"], most=2)["card"]) == 2
    payment, refund = code.symbols(NS, ROOT)
    rows = code.bodies(NS, ROOT, held["card"])
    assert [(row.file, row.symbol, row.first, row.last) for row in rows] == [
        (FILE.path, payment.id, 1, 30),
        (FILE.path, refund.id, 10, 20),
        (FILE.path, None, 31, 40),
    ]
    assert code.bodies(NS, ROOT, held["expir"]) == code.bodies(NS, ROOT, [], symbols=[refund.id])
    assert [code.body_count(NS, root) for root in (ROOT, "/w/other", "/nowhere")] == [3, 1, 0]
    assert code.bodies_holding(team, ROOT, ["card"], most=10) == {}
    assert code.bodies(team, ROOT, held["card"]) == []


@pytest.mark.requirement("CODE-19")
def test_words_of_bodies_go_with_their_file_and_their_folder(code: CodeStore) -> None:
    code.put_root(NS, ROOT)
    code.put_files(NS, ROOT, [replace(FILE, bodies=BODIES), replace(FILE, path="b.py", bodies=BODIES)], at=1)
    code.put_files(NS, ROOT, [replace(FILE, bodies=BODIES[2:])], at=2)
    assert len(code.bodies_holding(NS, ROOT, ["card"], most=10)["card"]) == 4
    code.put_files(NS, ROOT, [], removed=[FILE.path], at=3)
    assert len(code.bodies_holding(NS, ROOT, ["card"], most=10)["card"]) == 3
    code.remove_root(NS, ROOT)
    code.put_root(NS, ROOT)
    assert (code.body_count(NS, ROOT), code.bodies_holding(NS, ROOT, ["card"], most=10)) == (0, {})


@pytest.mark.requirement("CODE-19")
def test_files_of_no_language_are_known_by_their_stamps_and_are_no_modules(code: CodeStore) -> None:
    code.put_root(NS, ROOT)
    code.put_files(NS, ROOT, [CodeFile("README.md", "", 9, 5, b"d", bodies=BODIES[2:])], at=1)
    assert code.stamps(NS, ROOT) == {"README.md": (9, 5, b"d")}
    assert (code.modules(NS, with_skipped=True), code.module(NS, ROOT, "README.md")) == ([], None)
    assert code.module_paths(NS, ROOT, "README.md") == []
    assert [(root.files, root.skipped) for root in code.roots(NS)] == [(0, 0)]
    assert [row.file for row in code.bodies(NS, ROOT, code.bodies_holding(NS, ROOT, ["limit"], most=9)["limit"])] == [
        "README.md"
    ]
