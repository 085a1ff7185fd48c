import math
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skerry.index.domains import domain_of
from skerry.index.linear_domain import Step, domain_of_linear
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from tests.index.predicates import SCHEMA, bind, true_rows
from tests.index.test_region_from_predicate import rows_of

numbers = st.sampled_from(["0.1", "1", "2", "3.6", "7.25", "1000000", "0.001"]) | st.integers(1, 10**6).map(str)
SIGNS = ["<", "<=", "=", "<>", ">=", ">"]
SPECIAL = [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, 1.7e308, -1.7e308]


def double_of_key(key):
    bits = key if key >= 0 else key ^ 0x7FFFFFFFFFFFFFFF
    return struct.unpack("<d", struct.pack("<q", bits))[0]


def batch_of(values):
    columns = [pa.array(values if field.name == "d" else [None] * len(values), field.type) for field in SCHEMA]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@given(st.sampled_from("+-"), numbers, numbers, numbers, st.sampled_from(SIGNS), st.lists(st.floats(), max_size=5))
def test_bound_of_a_linear_expression_is_where_duckdb_puts_it(sign, factor, offset, limit, compared, values):
    text = f"d * {factor} {sign} {offset} {compared} {limit}"
    steps = [Step("*", float(factor)), Step(sign, float(offset))]
    cuts = domain_of_linear(steps, domain_of(pa.float64())).cuts(float(limit))
    near = [double_of_key(cut + beside) for cut in cuts for beside in (-2, -1, 0, 1)]
    batch, region = batch_of([*SPECIAL, *values, *near]), region_of(bind(text), SCHEMA, open_duckdb)
    assert region.is_exact
    assert rows_of(region, batch) == true_rows(bind(text), batch)


@pytest.mark.parametrize(
    "text",
    ["d * 0 > 1", "5 - d > 1", "i * 2 > 1", "f * 2 > 1", "d / 2 > 1", "d * 2 > l", "d * 1234567890123456789 > 1"],
)
def test_what_may_fall_or_fail_is_no_bound(text):
    assert not region_of(bind(text), SCHEMA, open_duckdb).is_exact


@pytest.mark.parametrize(
    "text", ["2 * d > 1", "3 + (d - 1) * 2 BETWEEN 1 AND 5", "NOT d * 2 IN (1, 4)", "d + 1 IS NULL"]
)
def test_bound_may_be_written_in_any_way(text):
    batch = batch_of([*SPECIAL, 0.5, 1.0, 2.0, 3.0])
    region = region_of(bind(text), SCHEMA, open_duckdb)
    assert region.is_exact
    assert rows_of(region, batch) == true_rows(bind(text), batch)
