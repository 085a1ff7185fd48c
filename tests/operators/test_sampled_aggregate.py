import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.sampled_aggregate import build_partial_samples, build_sampled_aggregate
from skerry.catalog import Source
from skerry.errors import LimitError
from skerry.model.time import END_OF_TIME, Micros, seconds
from skerry.model.window import Window
from skerry.plan.sampled_aggregate import SampledAggregate
from skerry.plan.scan import Scan
from skerry.testing import laws
from tests.operators.readings import SCHEMA, batch_of, fold, steps
from tests.operators.two_halves import TwoHalves
from tests.oracles.samples import count_samples

SECOND, SOME_SECONDS = seconds(1), seconds(3)
FOLDS = [
    fold("count"),
    fold("avg", "speed"),
    fold("max", "sensor"),
    fold("sum", "odometer"),
    fold("count_distinct", "ts"),
]
SCAN = Scan(Source("road", SCHEMA, "file"))
WINDOWS = st.sampled_from([Window(seconds(a), seconds(b)) for a, b in [(4, 4), (6, 2), (7, 5)]])
FORGET = st.sampled_from([seconds(0), seconds(3), seconds(11)])
RATES = st.sampled_from(
    [(seconds(1), ()), (seconds(3), (("a", seconds(2)),)), (None, (("a", seconds(1)), ("", seconds(5))))]
)
either = pytest.mark.parametrize("silent_rows", [False, True])


class BothHalves(TwoHalves):
    """The two halves as one operator."""

    def __init__(self, window, *, keys=("segment",), folds=(), rates=(SECOND, ()), forget=SOME_SECONDS, silent=True):
        node = SampledAggregate(SCAN, window, "ts", keys, tuple(folds), "sensor", *rates, forget, silent)
        super().__init__(build_partial_samples(node), build_sampled_aggregate("v", node))


@either
@settings(max_examples=6)
@given(steps=steps(), window=WINDOWS, forget=FORGET, rates=RATES)
def test_all_laws_are_kept(silent_rows, steps, window, forget, rates):
    def make():
        return BothHalves(window, folds=FOLDS, rates=rates, forget=forget, silent=silent_rows)

    laws.check_laws(make, steps, time="ts")
    laws.other_buckets_change_nothing(make, steps, keys=("segment",))


@either
@settings(max_examples=40)
@given(steps=steps(), window=WINDOWS, forget=FORGET, rates=RATES)
def test_samples_are_those_of_sorted_readings(silent_rows, steps, window, forget, rates):
    readings = [
        row
        for batch, _ in steps
        for row in zip(batch["segment"].to_pylist(), batch["sensor"].to_pylist(), moments(batch), strict=True)
    ]
    end = max([watermark for _, watermark in steps] + [moment for _, _, moment in readings])
    operator, found = BothHalves(window, rates=rates, forget=forget, silent=silent_rows), {}
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        if watermark == END_OF_TIME:
            operator.note_end(end)
        found |= rows(operator.advance(watermark))
    own = dict(rates[1])
    assert found == count_samples(
        readings, window, lambda sensor: own.get(sensor, rates[0]), forget, end, silent_rows=silent_rows
    )


def moments(batch, name="ts"):
    return batch.column(name).cast(pa.int64()).to_pylist()


def rows(batch):
    samples = [batch[name].to_pylist() for name in ("_expected", "_received", "_completeness")]
    keys = zip(batch["segment"].to_pylist(), moments(batch, "window_start"), strict=True)
    found = dict(zip(keys, zip(*samples, strict=True), strict=True))
    assert len(found) == batch.num_rows
    return found


def test_double_does_not_make_a_window_look_complete():
    operator = BothHalves(Window(seconds(2), seconds(2)))
    for _ in range(3):
        operator.transition(batch_of([{"ts": 5, "segment": 1, "sensor": "a"}]))
    assert rows(operator.advance(seconds(2))) == {(1, 0): (2, 1, 0.5)}


def test_one_sensor_cannot_make_up_for_another():
    operator = BothHalves(Window(seconds(2), seconds(2)), rates=(seconds(1), ()))
    here = [{"ts": moment, "segment": 1, "sensor": "a"} for moment in (0, 1, 2)]
    operator.transition(batch_of([*here, {"ts": 3, "segment": 1, "sensor": "b"}]))
    assert rows(operator.advance(seconds(2))) == {(1, 0): (4, 4, 0.75)}


def test_folds_of_a_silent_window_are_those_of_no_rows():
    operator = BothHalves(
        Window(seconds(1), seconds(1)), folds=[fold("count"), fold("max", "sensor"), fold("sum", "flow")]
    )
    operator.transition(batch_of([{"ts": 0, "segment": 1, "sensor": "a", "flow": 2}]))
    operator.advance(seconds(1))
    silent = operator.advance(seconds(2)).to_pylist()[0]
    assert [silent[name] for name in ("count_None", "max_sensor", "sum_flow", "_received")] == [0, None, None, 0]


def test_forgotten_sensors_are_counted_and_not_kept():
    operator = BothHalves(Window(seconds(1), seconds(1)))
    operator.transition(batch_of([{"ts": 0, "segment": 1, "sensor": "a"}]))
    assert operator.advance(seconds(100)).num_rows == 4
    assert operator.figures() == {"sensors_forgotten": 1}
    assert operator.snapshot().keys() == {"clock"}


def test_too_many_silent_windows_at_once_stop_the_view():
    operator = BothHalves(Window(Micros(1), Micros(1)), rates=(Micros(1), ()), forget=seconds(11))
    operator.transition(batch_of([{"ts": 0, "segment": 1, "sensor": "a"}]))
    with pytest.raises(LimitError, match="more than 10,000,000 windows are silent at once"):
        operator.advance(seconds(12))
