import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.batch import join
from skerry.model.expression import Expression
from skerry.operators.fan_out import FanOut, ViewSplitter, unpack_views

NUMBER = Expression.of("n", pa.int64())
KINDS = ((("n", NUMBER),), (("twice", Expression('"n" * 2', pa.int64())), ("n", NUMBER)))
VIEWS = {"most": KINDS[0], "even": KINDS[1], "none": KINDS[0], "late": KINDS[1], "first": KINDS[0]}
WANTED = {
    "most": lambda n: n != 3,
    "even": lambda n: n % 2 == 0,
    "none": lambda n: False,
    "late": lambda n: n > 5,
    "first": lambda n: n < 2,
}


class Asked:
    """Stands for an index: each query asked of each row."""

    def match(self, batch):
        pairs = [
            (row, query)
            for row, n in enumerate(batch.column("n").to_pylist())
            for query, name in enumerate(VIEWS)
            if WANTED[name](n)
        ]
        rows, queries = zip(*pairs, strict=True) if pairs else ((), ())
        return np.array(rows, np.int32), np.array(queries, np.int32)

    def names(self, queries):
        return pa.array(list(VIEWS), pa.string()).take(pa.array(queries))


def expected(numbers):
    made = {"most": lambda n: {"n": n}, "even": lambda n: {"twice": 2 * n, "n": n}}
    made |= {"first": made["most"], "late": made["even"], "none": made["most"]}
    found = {name: [made[name](n) for n in numbers if WANTED[name](n)] for name in VIEWS}
    return {name: rows for name, rows in found.items() if rows}


@given(st.lists(st.integers(-3, 9), max_size=12))
def test_each_view_is_dealt_its_rows_with_its_columns(numbers):
    batch = pa.record_batch({"n": pa.array(numbers, pa.int64())})
    out = FanOut(ViewSplitter(Asked(), VIEWS)).transition(batch)
    assert {view: rows.to_pylist() for view, rows in unpack_views(out)} == expected(numbers)


def test_a_view_that_was_dealt_twice_comes_once():
    deal = FanOut(ViewSplitter(Asked(), VIEWS))
    out = join([deal.transition(pa.record_batch({"n": pa.array([n], pa.int64())})) for n in (0, 7)], deal.schema)
    found = list(unpack_views(out))
    assert sorted(view for view, _ in found) == ["even", "first", "late", "most"]
    assert dict(found)["most"].to_pylist() == [{"n": 0}, {"n": 7}]
