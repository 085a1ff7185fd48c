"""Rows as sorted lines, against one row at a time."""

import csv
import io

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine
from skerry.deduce.facts import csv_lines
from skerry.deduce.facts.csv_lines import format_value, sort_lines
from skerry.deduce.values import row_key, sort_key
from skerry.lang.rules import read
from skerry.plan.program import Column, Predicate, Type

VALUES = {
    Type.INT: st.integers(-(2**63), 2**63 - 1) | st.integers(0, 3),
    Type.FLOAT: st.floats(allow_nan=False).map(lambda number: number + 0.0),
    Type.STRING: st.text('ab,"\n ', max_size=3),
    Type.BOOL: st.booleans(),
    Type.TIME: st.integers(-(2**62), 2**62) | st.integers(0, 10**12),
    Type.NODE: st.integers(0, 3) | st.text("ab", max_size=2),
    Type.LIST: st.lists(st.integers(0, 2) | st.text("a,", max_size=1), max_size=2).map(tuple),
}


@st.composite
def tables(draw):
    """The types of some columns, and different rows of these."""
    types = draw(st.lists(st.sampled_from(list(VALUES)), max_size=3))
    rows = draw(st.lists(st.tuples(*(VALUES[type_] for type_ in types)), max_size=6, unique_by=row_key))
    return types, rows


def write_one_by_one(types, rows, unit, before):
    """The slow twin."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for row in sorted(rows, key=lambda row: tuple(map(sort_key, row))):
        fields = [*before, *(format_value(value, type_, unit) for value, type_ in zip(row, types, strict=True))]
        writer.writerow(fields or ["()"])
    return file.getvalue().encode()


@pytest.fixture(scope="module", autouse=True)
def _short_pieces():
    whole, csv_lines._PIECE = csv_lines._PIECE, 4
    yield
    csv_lines._PIECE = whole


@settings(max_examples=150, deadline=None)
@given(tables(), st.sampled_from([1, 1_000_000]), st.sampled_from([(), ("7",), ("a,b", "+")]))
@example(([Type.STRING], [("",), ("a",)]), 1, ())
@example(([Type.INT, Type.INT], [(2**63 - 1, 0), (-(2**63), 1)]), 1, ())
def test_lines_agree_with_one_row_at_a_time(table, unit, before):
    types, rows = table
    predicate = Predicate("p", tuple(Column(f"c{n}", type_) for n, type_ in enumerate(types)), base=True)
    assert b"".join(sort_lines(rows, predicate, unit, before)) == write_one_by_one(types, rows, unit, before)


@settings(max_examples=25, deadline=None)
@given(tables().filter(lambda table: table[0]), st.booleans())
def test_rows_of_the_engine_are_the_same_lines(table, decoded):
    types, rows = table
    columns = ", ".join(f"c{n}: {type_}" for n, type_ in enumerate(types))
    names = ", ".join(f"c{n}" for n in range(len(types)))
    checked = check(read(f"base p({columns}). q({names}) :- p({names})."))
    engine = Engine(checked, Builtins({}))
    engine.tick(None, {"p": rows}, {})
    held = engine.held("q")
    if decoded:
        held.decode()
    assert b"".join(sort_lines(held, checked.predicates["p"], 1)) == write_one_by_one(types, rows, 1, ())
