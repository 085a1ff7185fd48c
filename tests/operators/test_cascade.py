import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.batch import join
from skerry.model.slices import Slices
from skerry.model.time import END_OF_TIME, Micros
from skerry.model.types import TIMESTAMP
from skerry.model.window import WINDOW_END, WINDOW_START, Window
from skerry.operators.aggregate import WindowAggregate
from skerry.operators.cascade import Cascade, Edge, Level
from skerry.operators.gather import Gather
from skerry.operators.partial_aggregate import PartialAggregate
from skerry.plan.fold import Fold
from skerry.testing import laws

SCHEMA = pa.schema({"gas": pa.int64(), "sensor": pa.string(), "ts": TIMESTAMP})
SMALL, LARGE = Window(Micros(10), Micros(10)), Window(Micros(40), Micros(40))
WIDEST = Fold("max", "arity", pa.int32(), "widest")
MOST = Fold("max", "widest", pa.int32(), "most")
KEY = pa.field("key", pa.int64())


def gather():
    return Gather(SCHEMA, key="gas", sensor="sensor", time="ts", span_us=15)


def widest():
    return WindowAggregate(SMALL, [KEY], [WIDEST])


def most():
    return WindowAggregate(LARGE, [], [MOST])


def first_half(window, time, keys, fold):
    return PartialAggregate(Slices.of([window]), time, keys, [fold])


def cascade():
    """The widest answer of a GATHER in each small window, and of those the most in each large one."""
    above = Edge(1, 0, (first_half(SMALL, "ts", [KEY], WIDEST),), 0)
    higher = Edge(2, 0, (first_half(LARGE, WINDOW_START, [], MOST),), SMALL.size_us)
    return Cascade([Level(gather(), above), Level(widest(), higher), Level(most())], [(0, 0)])


def one_after_the_other(batch):
    """The same, each operator run to its end before the next begins."""
    for operator, before in [
        (gather(), None),
        (widest(), first_half(SMALL, "ts", [KEY], WIDEST)),
        (most(), first_half(LARGE, WINDOW_START, [], MOST)),
    ]:
        taken = before.transition(batch) if before else batch
        batch = join([operator.transition(taken), operator.advance(END_OF_TIME)], operator.schema)
    return batch


rows = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("abc"), st.integers(0, 120)), max_size=25)


def batch_of(found):
    columns = [pa.array([row[place] for row in found], field.type) for place, field in enumerate(SCHEMA)]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


@given(rows)
def test_a_cascade_gives_what_its_operators_give_one_after_the_other(found):
    batch = batch_of(sorted(found, key=lambda row: row[2]))
    steps = [
        (batch.slice(place, 1), Micros(batch.column("ts").cast(pa.int64())[place].as_py()))
        for place in range(len(found))
    ]
    assert laws.answers(cascade(), steps) == laws.rows_of(one_after_the_other(batch))


@settings(max_examples=20)
@given(rows)
def test_a_cascade_keeps_the_laws(found):
    ordered = sorted(found, key=lambda row: row[2])
    steps = [(batch_of([row]), Micros(row[2] - 5)) for row in ordered]
    laws.check_laws(cascade, steps, time="ts")


def test_answers_of_the_lowest_level_reach_the_highest_when_their_time_has_come():
    found = cascade()
    assert not found.transition(batch_of([(1, "a", 5), (1, "b", 6)])).num_rows
    assert not found.advance(Micros(49)).num_rows
    assert found.advance(Micros(50)).select([WINDOW_END, "most"]).to_pylist()[0]["most"] == 2
