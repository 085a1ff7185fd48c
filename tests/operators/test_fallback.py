"""Stand-ins follow from event times alone, and are those of a look at all readings."""

from collections import Counter

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import END_OF_TIME, seconds
from skerry.operators.fallback import Fallback
from skerry.testing import laws
from tests.operators.readings import SCHEMA, steps
from tests.oracles.stand_ins import find_stand_ins

STAND_INS = {"a": ("ä", "ab"), "A": ("a",), "ab": ("", "A")}
LIMITS = {"a": seconds(1), "ä": seconds(3), "ab": seconds(2), "A": seconds(0), "": seconds(5)}
limits = st.fixed_dictionaries({name: st.integers(0, 6).map(seconds) for name in LIMITS})


def make(limits_us=LIMITS):
    return Fallback(SCHEMA, "ts", "sensor", STAND_INS, limits_us, "taken_by")


@settings(max_examples=15)
@given(steps=steps())
def test_all_laws_are_kept(steps):
    laws.check_laws(make, steps, time="ts")


@given(steps=steps(), limits_us=limits)
def test_stand_ins_are_those_of_a_look_at_all_readings(steps, limits_us):
    operator, found = make(limits_us), Counter()
    for batch, watermark in [*steps, (steps[0][0].slice(0, 0), END_OF_TIME)]:
        operator.transition(batch)
        found.update(rows(operator.advance(watermark), "sensor", "ts", "taken_by"))
    heard = [row for batch, _ in steps for row in rows(batch, "sensor", "ts")]
    assert found == Counter(find_stand_ins(heard, STAND_INS, limits_us) if heard else [])
    assert operator.figures().get("stand_ins", 0) == found.total() - len(heard)


def rows(batch, *names):
    columns = [batch.column(name) for name in names]
    return zip(
        *(
            (each.cast(pa.int64()) if name == "ts" else each).to_pylist()
            for each, name in zip(columns, names, strict=True)
        ),
        strict=True,
    )
