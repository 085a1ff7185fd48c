import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.index import derived_columns
from skerry.index.derived_columns import DerivedColumns
from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from tests.index.predicates import SCHEMA, batches, bind, join_parts, leaves
from tests.index.test_query_index import ask_duckdb, match_bits, match_names

ABOUT_EXPRESSIONS = [
    *("d + i > 1", "abs(d - i) <= 1.5", "upper(s) = 'AB'", "length(s) IN (1, 2)", "i > l", "s LIKE '%b%'", "i % 2 = 1"),
    *("i + 2147483647 > 5", "CAST(s AS INT) = 1", "l * 2 IS NULL", "CAST(s AS INT) + i BETWEEN 0 AND 9"),
]
predicates = st.recursive(leaves() | st.sampled_from(ABOUT_EXPRESSIONS), join_parts, max_leaves=4)
queries = st.lists(predicates, min_size=1, max_size=5).map(
    lambda texts: {f"q{number}": text for number, text in enumerate(texts)}
)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch):
    monkeypatch.setattr(derived_columns, "_WANTED", 0)


def index_of(texts):
    index = QueryIndex(SCHEMA, open_duckdb)
    for name, text in texts.items():
        index.add(name, region_of(bind(text), SCHEMA, open_duckdb, index.derived.find))
    return index


@given(queries, batches())
def test_queries_about_expressions_match_what_duckdb_finds(texts, batch):
    index = index_of(texts)
    assert match_names(index, batch) == match_bits(index, batch) == ask_duckdb(texts, batch)


@settings(max_examples=30)
@given(queries, st.data(), batches())
def test_they_come_and_go_and_are_saved(texts, data, batch):
    index = index_of(texts)
    gone = data.draw(st.sampled_from(sorted(texts)))
    index.remove(gone)
    again = QueryIndex.restore(index.save(), SCHEMA, open_duckdb)
    for each in (index, again):
        each.add(gone, region_of(bind(texts[gone]), SCHEMA, open_duckdb, each.derived.find))
    assert match_names(again, batch) == match_names(index, batch) == ask_duckdb(texts, batch)
    assert again.save() == index.save()


def test_there_are_so_many_and_no_more(monkeypatch):
    monkeypatch.setattr(derived_columns, "_MOST", 2)
    columns = DerivedColumns(pa.schema({"i": pa.int32()}), open_duckdb)
    found = [columns.find(f"i + {number}") for number in range(4)]
    assert [each is not None for each in found] == [True, True, False, False]


def test_expression_without_an_order_is_none():
    assert DerivedColumns(pa.schema({"i": pa.int32()}), open_duckdb).find("[i]") is None
