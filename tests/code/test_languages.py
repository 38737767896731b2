"""What a walker finds in one file of its language."""

from __future__ import annotations

from pathlib import Path

import pytest

from ovillo.code.languages import all_languages, language_of
from ovillo.code.parsing import parse_file
from ovillo.model.code import CodeFile


def parsed(path: Path, name: str | None = None) -> CodeFile:
    language = language_of(path.name)
    assert language is not None
    return parse_file(name or path.name, path.read_bytes(), language)


def outline(file: CodeFile) -> list[str]:
    return [f"{s.kind.value} {s.qualified_name} {s.start_line}-{s.end_line}" for s in file.symbols]


def called(file: CodeFile) -> list[str]:
    return [f"{call.receiver}.{call.name}" if call.receiver else call.name for call in file.calls]


EXPECTED = {
    "shop.js": (
        [
            "function pay 6-8",
            "method api.refund 10-10",
            "method api.deep.cancel 11-11",
            "method Shop.open 13-15",
            "class Till 16-18",
            "method Till.make 17-17",
        ],
        ["require", "glue", "pay", "this.close", "Till"],
        ["fs"],
    ),
    "shop.go": (
        [
            "function Pay 8-8",
            "struct Card 10-14",
            "method Card.Charge 15-15",
            "interface I 17-17",
            "method I.M 17-17",
            "type E 18-18",
        ],
        ["fmt.Println", "x.Y.Z", "q", "c.n.do"],
        ["fmt", "a/b"],
    ),
    "shop.rs": (
        [
            "function a 3-3",
            "method Bar.m 4-4",
            "namespace m 6-6",
            "struct m.S 6-6",
            "trait T 7-7",
            "method T.q 7-7",
            "function mm 8-8",
        ],
        ["b.c", "x.d", "println", "e", "self.z"],
        ["a::b", "a::b", "a"],
    ),
    "Shop.java": (
        [
            "class A 5-9",
            "method A.A 7-7",
            "method A.m 9-9",
            "class R 10-10",
            "interface I 11-11",
            "method I.q 11-11",
            "enum E 12-12",
            "method E.z 12-12",
        ],
        ["this.x.k", "n", "Z"],
        ["b.c", "e.F"],
    ),
    "shop.c": (
        ["function add 4-7", "function dup 8-8", "struct Point 9-9", "struct S 10-10"],
        ["f", "p.g"],
        ["stdio.h", "a.h"],
    ),
    "shop.cpp": (
        [
            "class A 1-2",
            "method A.m 2-2",
            "method A.~A 2-2",
            "method A.k 2-2",
            "method A.m 3-3",
            "namespace n 4-4",
            "function n.f 4-4",
            "enum n.E 4-4",
            "method A.~A 6-6",
            "function operator== 7-7",
        ],
        ["x.y", "n.f", "std.max", "g", "Foo"],
        ["a.h"],
    ),
    "Shop.cs": (
        [
            "class A 5-7",
            "method A.A 6-6",
            "method A.M 7-7",
            "function A.M.Loc 7-7",
            "class R 7-7",
            "interface I 7-7",
            "method I.Q 7-7",
        ],
        ["g.H", "K", "Z", "x.Y"],
        ["A.B", "D.E"],
    ),
    "shop_spec.rb": (
        [
            "trait M 3-12",
            "class M.A 5-11",
            "method M.A.pay 6-9",
            "method M.A.x 10-10",
            "test x 13-17",
            "test x.y 14-16",
        ],
        ["foo().bar", "foo", "A.new", "describe", "it", "z"],
        ["a", "./b"],
    ),
    "shop.php": (
        ["class X 6-6", "method X.pay 6-6", "function f 7-7", "trait T 8-8", "enum En 9-9"],
        ["this.foo", "self.bar", "f", "Q"],
        ["C", "F", "F", "./x.php"],
    ),
    "shop.kt": (
        [
            "class A 6-12",
            "method A.pay 7-8",
            "class A.Companion 9-11",
            "method A.Companion.z 10-10",
            "class O 13-13",
            "enum E 14-14",
            "interface I 15-15",
            "function ext 16-16",
        ],
        ["g.h", "foo"],
        ["x.y", "x", "z"],
    ),
}


@pytest.mark.requirement("CODE-2")
@pytest.mark.parametrize("name", EXPECTED)
def test_definitions_calls_and_imports_of_each_language(fixtures: Path, name: str) -> None:
    file = parsed(fixtures / "code" / "languages" / name)
    symbols, calls, imports = EXPECTED[name]
    assert outline(file) == symbols
    assert called(file) == calls
    assert [item.module for item in file.imports] == imports
    assert file.error is None


WIDE = {
    "Ledger.cs": [
        "type Changed 7-7",
        "class Ledger 10-35",
        "method Ledger.Ledger 17-17",
        "method Ledger.~Ledger 19-19",
        "method Ledger.Add 22-23",
        "method Ledger.operator + 25-25",
        "method Ledger.operator int 27-27",
        "struct Ledger.Line 31-34",
        "method Ledger.Line.Print 33-33",
        "class LedgerExtensions 37-40",
        "method LedgerExtensions.Total 39-39",
        "enum Level 42-42",
    ],
    "Ledger.kt": [
        "type Handler 6-6",
        "class Entry 9-9",
        "interface Result 11-14",
        "class Result.Ok 12-12",
        "class Result.Missing 13-13",
        "class Ledger 16-39",
        "method Ledger.constructor 17-17",
        "method Ledger.add 22-26",
        "function Ledger.add.inner 24-24",
        "method Ledger.plus 28-28",
        "method Ledger.close 30-30",
        "class Ledger.Factory 32-34",
        "method Ledger.Factory.make 33-33",
        "class Ledger.Cursor 36-38",
        "method Ledger.Cursor.next 37-37",
        "enum Level 41-50",
        "method Level.label 43-43",
        "method Level.label 46-46",
        "method Level.label 49-49",
        "function shout 52-52",
        "interface Visitor 54-56",
        "method Visitor.visit 55-55",
    ],
    "ledger.cpp": [
        "namespace acme.billing 4-44",
        "class acme.billing.Ledger 7-31",
        "method acme.billing.Ledger.Ledger 10-10",
        "method acme.billing.Ledger.~Ledger 11-11",
        "method acme.billing.Ledger.add 14-18",
        "method acme.billing.Ledger.operator== 20-20",
        "method acme.billing.Ledger.operator[] 21-21",
        "method acme.billing.Ledger.operator bool 22-22",
        "method acme.billing.Ledger.close 23-23",
        "struct acme.billing.Ledger.Line 25-27",
        "method acme.billing.Ledger.Line.print 26-26",
        "method acme.billing.Ledger.operator[] 33-36",
        "enum acme.billing.Level 38-38",
        "type acme.billing.Handler 40-40",
        "function acme.billing.total 42-42",
        "function c_entry 47-47",
        "function hidden 51-51",
        "function operator<< 54-54",
    ],
    "ledger.c": [
        "struct ledger 7-11",
        "enum level 13-13",
        "function helper 17-17",
        "function ledger_add 22-28",
        "function choose 30-30",
        "function dump 33-33",
        "function dump 35-35",
        "function after 40-40",
    ],
    "ledger.go": [
        "struct Ledger 13-17",
        "interface Keeper 19-22",
        "method Keeper.Keep 21-21",
        "type Level 24-24",
        "type Handler 27-27",
        "method Ledger.Add 30-35",
        "method Ledger.Close 37-37",
        "function Map 40-43",
        "function init 45-45",
    ],
    "ledger.rb": [
        "trait Acme 4-53",
        "class Acme.Ledger 6-50",
        "method Acme.Ledger.add 13-19",
        "method Acme.Ledger.<=> 21-21",
        "method Acme.Ledger.[] 23-25",
        "method Acme.Ledger.empty? 27-27",
        "method Acme.Ledger.name= 29-31",
        "method Acme.Ledger.make 34-36",
        "method Acme.Ledger.open 39-39",
        "class Acme.Ledger.Line 43-45",
        "method Acme.Ledger.Line.print 44-44",
        "method Acme.Ledger.secret 49-49",
        "class Acme.Failed 52-52",
        "class Acme.Ledger.Cursor 55-57",
        "method Acme.Ledger.Cursor.next_one 56-56",
        "function total 59-59",
    ],
    "ledger.rs": [
        "struct Ledger 6-9",
        "trait Keep 11-17",
        "method Keep.keep 14-14",
        "method Keep.twice 16-16",
        "method Ledger.new 21-23",
        "method Ledger.add 25-30",
        "function Ledger.add.inner 26-26",
        "method Ledger.fmt 34-34",
        "function ledger 38-40",
        "enum Level 42-42",
        "type Handler 44-44",
        "function c_entry 46-46",
        "namespace tests 49-54",
        "function tests.adds 53-53",
    ],
    "ledger.php": [
        "class Ledger 12-31",
        "method Ledger.__construct 17-17",
        "method Ledger.add 20-26",
        "method Ledger.close 28-28",
        "method Ledger.make 30-30",
        "enum Level 33-36",
        "method Level.label 35-35",
        "interface Printable 38-38",
        "method Printable.print 38-38",
        "trait Logs 40-40",
        "method Logs.log 40-40",
        "function total 42-42",
        "function later 44-44",
        "method later.go 44-44",
    ],
}


@pytest.mark.requirement("CODE-2")
@pytest.mark.parametrize("name", WIDE)
def test_generics_nesting_operators_and_damage_in_each_language(fixtures: Path, name: str) -> None:
    file = parsed(fixtures / "code" / "wide" / name)
    assert outline(file) == WIDE[name]
    documented = {s.name: s.doc for s in file.symbols if s.doc}
    assert any(doc.startswith(("Adds one.", "Add adds one.", "Makes one.")) for doc in documented.values())
    assert (file.error is not None) == (name == "ledger.c")


@pytest.mark.requirement("CODE-2")
def test_every_language_has_a_grammar_and_a_walker() -> None:
    for language in all_languages():
        assert language.load()


@pytest.mark.requirement("CODE-3")
def test_python_in_full(fixtures: Path) -> None:
    file = parsed(fixtures / "code" / "shop" / "payment_processor.py")
    pay = next(s for s in file.symbols if s.name == "process_payment")
    assert pay.signature == "process_payment(amount: float, card: Card) -> Result"
    assert (pay.start_line, pay.end_line) == (30, 38)
    assert pay.doc == "Procesa pago con validación de tarjeta."
    assert [call.name for call in file.calls if call.caller == file.symbols.index(pay)] == [
        "check",
        "ValueError",
        "log_transaction",
        "refund",
        "PaymentProcessor",
    ]
    assert file.exports == ("PaymentProcessor", "process_payment")
    assert file.tickets == ("#77",)
    assert ("validate_card", "check") in file.imports[1].names


@pytest.mark.requirement("CODE-3")
def test_typescript_in_full(fixtures: Path) -> None:
    file = parsed(fixtures / "code" / "shop" / "web" / "cart.ts")
    assert outline(file) == [
        "class Cart 5-15",
        "method Cart.add 9-12",
        "method Cart.total 14-14",
        "function checkout 17-19",
    ]
    assert [s.signature for s in file.symbols] == [
        "class Cart",
        "add(item: Item): this",
        "total(): number",
        "checkout(cart: Cart): Promise<number>",
    ]
    assert [s.doc for s in file.symbols] == ["A cart of items.", "Adds one item.", "", ""]
    assert file.exports == ("Cart", "checkout")


@pytest.mark.requirement("CODE-3")
def test_sentences_of_tests_are_tests_with_the_calls_inside_them(fixtures: Path) -> None:
    file = parsed(fixtures / "code" / "shop" / "web" / "cart.test.ts", "web/cart.test.ts")
    assert outline(file) == ["test cart 3-7", "test cart.costs nothing when empty 4-6"]
    assert all(s.is_test for s in file.symbols)
    assert {call.name for call in file.calls if call.caller == 1} == {"expect", "toBe", "checkout", "Cart"}
