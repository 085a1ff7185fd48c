import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.errors import CatalogError
from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from tests.index.predicates import SCHEMA, batches, bind, predicates, true_rows


def index_of(texts):
    index = QueryIndex(SCHEMA, open_duckdb)
    for name, text in texts.items():
        index.add(name, region_of(bind(text), SCHEMA, open_duckdb))
    return index


def match_names(index, batch):
    rows, queries = index.match(batch)
    assert (np.diff(rows) >= 0).all()
    found = list(zip(rows.tolist(), index.names(queries).to_pylist(), strict=True))
    assert len(found) == len(set(found))
    return set(found)


def match_bits(index, batch):
    bits, queries = index.bitmaps(batch)
    each = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    rows, bit_numbers = np.nonzero(each)
    assert (queries[bit_numbers] >= 0).all()
    found = list(zip(rows.tolist(), index.names(queries[bit_numbers]).to_pylist(), strict=True))
    assert len(found) == len(set(found))
    return set(found)


def ask_duckdb(texts, batch):
    return {(row, name) for name, text in texts.items() for row in true_rows(bind(text), batch)}


queries = st.lists(predicates(), min_size=1, max_size=6).map(
    lambda texts: {f"q{number}": text for number, text in enumerate(texts)}
)


@given(queries, batches())
def test_matches_are_the_rows_that_duckdb_finds(texts, batch):
    index = index_of(texts)
    assert match_names(index, batch) == match_bits(index, batch) == ask_duckdb(texts, batch)


@settings(max_examples=30)
@given(queries, queries, st.data(), batches())
def test_queries_come_and_go(first, later, data, batch):
    index, texts = index_of(first), dict(first)
    match_names(index, batch)
    for name in data.draw(st.sets(st.sampled_from(sorted(first)))):
        index.remove(name)
        del texts[name]
    for name, text in later.items():
        index.add(f"later {name}", region_of(bind(text), SCHEMA, open_duckdb))
        texts[f"later {name}"] = text
    assert match_names(index, batch) == match_bits(index, batch) == ask_duckdb(texts, batch)
    assert len(index) == len(texts)


@settings(max_examples=30)
@given(queries, st.data(), batches())
def test_saved_index_matches_as_before_and_takes_changes(texts, data, batch):
    index = index_of(texts)
    gone = data.draw(st.sampled_from(sorted(texts)))
    index.remove(gone)
    again = QueryIndex.restore(index.save(), SCHEMA, open_duckdb)
    for before, after in zip(index.match(batch), again.match(batch), strict=True):
        assert before.tolist() == after.tolist()
    for each in (index, again):
        each.add(gone, region_of(bind(texts[gone]), SCHEMA, open_duckdb))
    assert match_names(again, batch) == ask_duckdb(texts, batch)
    assert again.save() == index.save()


def rows(**columns):
    count = len(next(iter(columns.values())))
    arrays = [pa.array(columns.get(field.name, [None] * count), field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def test_long_texts_that_begin_alike_are_distinguished():
    index = index_of({f"q{number}": f"s = 'sensor_{number:04}'" for number in range(3000)})
    batch = rows(s=["sensor_0007", "sensor_2999", "sensor_00070", "sensor_", None])
    assert match_names(index, batch) == match_bits(index, batch) == {(0, "q7"), (1, "q2999")}


def test_patterns_are_found_by_what_they_contain():
    words = ["abcdefghi", "éclair", "cdef", "ab_d", "a\\\\bcdef", "abab", "xabcdx"]
    patterns = [f"'%{word}%'" for word in words] + [f"'{word[0]}%{word[2:]}'" for word in words]
    texts = {pattern: f"s LIKE {pattern}" for pattern in patterns} | {"not": "s NOT LIKE '%bcde%'"}
    texts |= {"and": "s LIKE '%bcde%' AND i > 1", "or": "s LIKE '%bcde%' OR i > 1"}
    batch = rows(
        s=["abcdefghi", "xéclairx", "abababab", "abc", None, "xabcdxcdef", "a\\bcdef"], i=[1, 2, 3, None, 5, 6, 0]
    )
    index = index_of(texts)
    assert match_names(index, batch) == match_bits(index, batch) == ask_duckdb(texts, batch)
    again = QueryIndex.restore(index.save(), SCHEMA, open_duckdb)
    again.remove(patterns[0])
    assert match_names(again, batch) == {pair for pair in match_names(index, batch) if pair[1] != patterns[0]}


def test_part_of_a_batch_is_matched_by_itself():
    texts = {"text": "s = 'abcdefghi'", "short": "s < 'b'", "number": "i > 1", "moment": "t IS NULL", "truth": "b"}
    whole = rows(s=["a", "abcdefghi", None, "c"], i=[1, 2, None, 4], b=[True, None, False, True])
    part = whole.slice(1, 2)
    assert match_names(index_of(texts), part) == ask_duckdb(texts, part)


def test_failing_predicate_takes_nothing_from_others():
    index = index_of({"bad": "CAST(s AS INT) = 7", "good": "i > 3", "residual": "i % 2 = 0"})
    batch = rows(i=[4, 5, 6], s=["7", "x", None])
    for _ in range(2):
        assert match_names(index, batch) == {
            (0, "bad"),
            (0, "good"),
            (1, "good"),
            (2, "good"),
            (0, "residual"),
            (2, "residual"),
        }


def test_query_that_is_never_true_can_be_added_and_removed():
    index = index_of({"never": "i > 3 AND i < 2", "ever": "i > 3"})
    index.remove("never")
    assert match_names(index, rows(i=[4])) == {(0, "ever")}


def test_empty_batch_and_empty_index_match_nothing():
    assert match_names(index_of({}), rows(i=[4])) == set()
    assert match_names(index_of({"q": "i > 3"}), rows(i=[])) == set()


def test_name_is_taken_once_and_must_be_there_to_go():
    index = index_of({"q": "i > 3"})
    with pytest.raises(CatalogError, match="there is a query 'q' already"):
        index.add("q", region_of(bind("b"), SCHEMA, open_duckdb))
    with pytest.raises(CatalogError, match="there is no query 'p'"):
        index.remove("p")
