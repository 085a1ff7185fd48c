import json

from hypothesis import given
from hypothesis import strategies as st

from skerry.model.time import Micros
from skerry.sensors.messages import Control, SensorState, Setting

names = st.text("abc_1", min_size=1, max_size=5)
ends = st.none() | st.floats(-1e6, 1e6)
settings = st.builds(
    Setting,
    program=st.none() | names,
    sample_period_us=st.none() | st.integers(1, 10**12).map(Micros),
    columns=st.none() | st.lists(names).map(tuple),
    ranges=st.dictionaries(names, st.lists(st.tuples(ends, ends), min_size=1, max_size=3).map(tuple)),
    asleep=st.booleans(),
)
states = st.builds(
    SensorState,
    setting=settings,
    control=st.integers(0, 10**9),
    battery=st.none() | st.floats(0, 1),
    listens_ms=st.floats(0, 1000),
    kind=st.none() | names,
    latitude=st.none() | st.floats(-90, 90),
    longitude=st.none() | st.floats(-180, 180),
    programs=st.lists(names).map(tuple),
    units=st.dictionaries(names, names),
)


def send(message):
    return json.loads(json.dumps(message.to_json()))


@given(control=st.builds(Control, st.integers(0, 10**9), settings))
def test_control_arrives_as_it_was_sent(control):
    assert Control.from_json(send(control)) == control


@given(state=states)
def test_state_arrives_as_it_was_sent(state):
    assert SensorState.from_json(send(state)) == state
