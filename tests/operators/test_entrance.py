import pyarrow as pa
import pytest

from skerry.model.time import END_OF_TIME
from skerry.operators.entrance import Entrance
from skerry.operators.joins.absence import Presence
from skerry.operators.spread import Spread
from skerry.plan.side import Side
from skerry.testing import laws

SCHEMA = pa.schema({"k": pa.int64(), "ts": pa.timestamp("us")})


def make():
    """A presence whose partners come from two sources."""
    sides = [Side(name, SCHEMA, ("k",), "ts", span) for name, span in (("a", 0), ("b", 5))]
    return Entrance(Presence(sides, ["k"]), [0, 1, 1])


def fill(operator):
    for stream, keys in enumerate([[1, 2, 3, 4], [1, 9], [3]]):
        operator.transition(pa.RecordBatch.from_pydict({"k": keys, "ts": [7] * len(keys)}, SCHEMA), stream)
    return operator


def test_rows_of_several_sources_are_of_one_stream():
    assert fill(make()).advance(END_OF_TIME).to_pydict() == {"k": [1, 3]}


@pytest.mark.parametrize("count", [1, 2, 3])
def test_state_is_spread_by_the_keys_of_its_own_streams(count):
    states = make().redistribute([fill(make()).snapshot()], Spread((("k",),) * 3, count))
    found = []
    for pages in states:
        operator = make()
        operator.restore(pages)
        found += operator.advance(END_OF_TIME).column("k").to_pylist()
    assert sorted(found) == [1, 3]


def test_laws_are_kept():
    batch = pa.RecordBatch.from_pydict({"k": [1, 2], "ts": [3, 4]}, SCHEMA)
    laws.check_laws(make, [(batch, 3)], time="ts")
