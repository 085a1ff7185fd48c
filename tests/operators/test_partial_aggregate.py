import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.slices import Slices
from skerry.model.time import seconds
from skerry.operators.partial_aggregate import SLICE, PartialAggregate
from tests import oracles
from tests.operators.readings import ALL_FOLDS, SCHEMA, WINDOWS, batch_of, fold, readings


def partial(window, *keys, folds=ALL_FOLDS):
    return PartialAggregate(Slices.of([window]), "ts", [SCHEMA.field(key) for key in keys], folds)


@given(readings(), st.sampled_from(WINDOWS))
def test_there_is_one_row_a_slice_and_group(batch, window):
    found = partial(window, "segment").transition(batch)
    moments = batch.column("ts").cast(pa.int64()).to_pylist()
    slices = [moment - moment % window.slice_us for moment in moments]
    _, first = oracles.group(zip(slices, batch.column("segment").to_pylist(), strict=True))
    assert found.column(SLICE).to_pylist() == [slices[row] for row in first]


@given(readings(), st.sampled_from(WINDOWS))
def test_batches_have_the_declared_schema(batch, window):
    operator = partial(window, "sensor")
    assert operator.transition(batch).schema == operator.schema


def test_empty_batch_gives_an_empty_batch():
    operator = partial(WINDOWS[0], "sensor")
    assert operator.transition(batch_of([])).schema == operator.schema


def test_partial_aggregate_holds_no_state():
    operator = partial(WINDOWS[0])
    operator.transition(batch_of([{"ts": 0}]))
    assert (operator.snapshot(), operator.advance(seconds(9)).num_rows) == ({}, 0)


def test_reading_before_the_epoch_falls_into_the_slice_before_it():
    found = partial(WINDOWS[0], folds=[fold("count")]).transition(batch_of([{"ts": -1}]))
    assert found.column(SLICE).to_pylist() == [seconds(-4)]
