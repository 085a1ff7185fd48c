from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME
from skerry.operators.joins.multi_join import MultiJoin
from skerry.operators.operator import Operator
from skerry.rivals.joins.zipper import Zipper
from skerry.testing import laws
from tests.operators.joins.test_multi_join import KEYS, SCHEMA, side, steps

keys = st.sampled_from([*KEYS, ()])


class Streams(Operator):
    """A join whose streams come in one batch, distinguished by a column."""

    def __init__(self, keys, make=Zipper):
        self._join = make([side("a", keys, span_us=0), side("b", keys, span_us=0)])
        self.schema = self._join.schema
        self.advance, self.changes = self._join.advance, self._join.changes
        self.restore, self.snapshot = self._join.restore, self._join.snapshot

    def transition(self, batch, stream=0):
        streams = batch.column("stream").to_numpy() % 2
        for stream in (0, 1):
            found = self._join.transition(batch.filter(pa.array(streams == stream)).select(SCHEMA.names), stream)
        return found


def answers(operator, steps):
    found = Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        for made in (operator.transition(batch), operator.advance(watermark)):
            found.update(zip(made["a.row"].to_pylist(), made["b.row"].to_pylist(), strict=True))
    return found


def nested_loops(steps, keys):
    """All pairs with equal time and keys."""
    rows = [row for batch, _ in steps for row in batch.to_pylist()]
    one, other = ([row for row in rows if row["stream"] % 2 == stream] for stream in (0, 1))
    return Counter(
        (a["row"], b["row"])
        for a in one
        for b in other
        if a["ts"] == b["ts"] and all(a[k] == b[k] for k in keys)
        if all(a[k] is not None for k in keys)
    )


@settings(max_examples=20)
@given(steps=steps(), keys=keys)
def test_answers_are_those_of_nested_loops(steps, keys):
    assert answers(Streams(keys), steps) == nested_loops(steps, keys)


@settings(max_examples=10)
@given(steps=steps())
def test_window_join_over_windows_without_length_gives_the_same(steps):
    assert answers(Streams(("ts", "tag"), MultiJoin), steps) == answers(Streams(("tag",)), steps)


@settings(max_examples=10)
@given(steps=steps(), keys=keys)
def test_operator_keeps_the_laws(steps, keys):
    laws.check_laws(lambda: Streams(keys), steps, time="ts")
