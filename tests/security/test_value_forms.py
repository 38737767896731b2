"""Each form in the tables of what a value looks like is one that its example has."""

from __future__ import annotations

import re
import runpy

import pytest

from ovillo.security import nearby_values
from ovillo.security.secret_rules import alternatives
from ovillo.security.secret_rules.alternatives import Form


def tables(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Form, ...]]:
    """Those of ``nearby_values``, read while it is loaded once more: what is left afterwards are compiled expressions."""
    seen: list[tuple[Form, ...]] = []
    joined = alternatives.forms

    def noted(*table: Form) -> str:
        seen.append(table)
        return joined(*table)

    monkeypatch.setattr(alternatives, "forms", noted)
    runpy.run_path(str(nearby_values.__file__))
    return seen


def test_each_form_matches_its_example_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    found = tables(monkeypatch)
    assert len(found) > 5
    for table in found:
        for form in table:
            assert re.fullmatch(form.pattern, form.example), form


def test_no_form_stands_behind_one_that_takes_its_example_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """A form whose own example the forms before it match already says nothing of its own."""
    for table in tables(monkeypatch):
        for place, form in enumerate(table):
            before = [one.pattern for one in table[:place] if re.fullmatch(one.pattern, form.example)]
            assert not before, (form, before)
