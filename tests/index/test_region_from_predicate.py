import duckdb
import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings

from skerry.errors import InputError
from skerry.index.disjunctive_form import MOST_BOXES
from skerry.index.domains import key_of_double
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from tests.index.predicates import SCHEMA, batches, bind, predicates, true_rows


def key(value, type_):
    if isinstance(value, str):
        return value.encode()
    return key_of_double(value) if pa.types.is_floating(type_) else int(value)


def in_side(scalar, values):
    if not scalar.is_valid:
        return values.null
    value = scalar.value if pa.types.is_timestamp(scalar.type) else scalar.as_py()
    return any(low <= key(value, scalar.type) < high for low, high in values.spans)


def in_box(batch, row, box):
    listed = [box.listed] if box.listed else []
    return all(in_side(batch.column(name)[row], values) for name, values in [*box.sides.items(), *listed])


def rows_of(region, batch):
    found = set()
    for box in region.boxes:
        rows = {row for row in range(batch.num_rows) if in_box(batch, row, box)}
        found |= rows & true_rows(box.residual.sql, batch) if box.residual and rows else rows
    return found


def read(text):
    return region_of(bind(text), SCHEMA, open_duckdb)


@settings(max_examples=250)
@given(predicates(), batches())
def test_region_holds_the_rows_that_duckdb_finds(text, batch):
    region = read(text)
    assert rows_of(region, batch) == true_rows(bind(text), batch)
    assert len(region.boxes) <= MOST_BOXES


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("i > 3 AND d <= 0.1 AND s = 'abcdefghi' AND b", 1),
        ("i <> 3", 2),
        ("i NOT IN (1, 2, 3, 5)", 3),
        ("NOT (i < 3 AND l > 5)", 2),
        ("i = 1 OR i = 2 OR i = 5", 2),
        ("t BETWEEN '2024-01-01' AND TIMESTAMP '2024-01-01 12:00:00' + INTERVAL '1' DAY", 1),
        ("s LIKE 'ab%' OR s < 'a'", 2),
        ("i > 5 AND i < 3", 0),
        ("i = NULL", 0),
        ("i NOT IN (1, NULL)", 0),
        ("d IS NULL OR d < 3", 1),
    ],
)
def test_what_boxes_can_say_leaves_no_residual(text, count):
    region = read(text)
    assert region.is_exact
    assert len(region.boxes) == count


def test_part_that_no_box_can_say_is_the_residual_of_the_others():
    (box,) = read("i > 3 AND s LIKE '%x' AND l > d").boxes
    assert list(box.sides) == ["i"]
    assert box.residual.sql == '"s" LIKE \'%x\' AND "l" > "d"'


def test_long_list_is_one_box_with_a_list():
    (box,) = read(f"b AND i IN ({', '.join(str(2 * number) for number in range(10_000))})").boxes
    assert list(box.sides) == ["b"]
    assert box.listed[0] == "i"
    assert len(box.listed[1].spans) == 10_000
    assert box.residual is None


def test_of_two_long_lists_one_is_a_wide_side_with_a_residual():
    some = ", ".join(str(2 * number) for number in range(100))
    (box,) = read(f"l IN ({some}) AND i IN ({some})").boxes
    assert len(box.sides) == 1
    assert box.listed
    assert box.residual


def test_product_of_many_alternatives_keeps_some_boxes():
    region = read(" AND ".join(f"({one} = 1 OR {other} = 1)" for one in "il" for other in "df" for _ in range(3)))
    assert 0 < len(region.boxes) <= MOST_BOXES


def test_deep_predicate_is_left_to_duckdb():
    (box,) = read("NOT " * 51 + "i > 3").boxes
    assert box.residual


def test_failing_part_fails_the_whole_predicate():
    boxes = read("i > 3 OR CAST(s AS INT) = 1").boxes
    assert {box.residual.form for box in boxes} == {'"i" > "$0:BIGINT" OR CAST("s" AS INT) = "$1:BIGINT"'}


def test_unknown_column_is_refused():
    with pytest.raises(InputError, match="unknown column 'speed'"):
        region_of(sqlglot.parse_one("speed > 3"), SCHEMA, duckdb.connect)
