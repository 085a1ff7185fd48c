import json

import pytest
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


NONSENSE = [
    {"control": "7"},
    {"control": -1},
    {"control": 1e300},
    {"control": 10**30},
    {"control": True},
    {"sample_period_ms": 0},
    {"sample_period_ms": float("inf")},
    {"sample_period_ms": float("nan")},
    {"sample_period_ms": "fast"},
    {"sample_period_ms": 10**400},
    {"program": {}},
    {"program": "\ud800"},
    {"program": "x" * 999},
    {"columns": "speed"},
    {"columns": [["speed"]]},
    {"ranges": [1]},
    {"ranges": {"speed": [[1, 2, 3]]}},
    {"ranges": {"speed": [["low", None]]}},
    {"ranges": {"speed": [[float("nan"), None]]}},
    {"ranges": {"speed": [[10**400, None]]}},
    {"asleep": "no"},
    {"battery": "full"},
    {"battery": 87},
    {"battery": float("nan")},
    {"listens_ms": [50]},
    {"listens_ms": -1},
    {"listens_ms": 1e300},
    {"kind": 7},
    {"kind": "\0"},
    {"latitude": 200},
    {"longitude": "west"},
    {"programs": {"raw": 1}},
    {"programs": [None]},
    {"units": ["mph"]},
    {"units": {"speed": {}}},
]


@pytest.mark.parametrize("nonsense", NONSENSE, ids=repr)
def test_nonsense_is_told_with_the_name_of_the_field(nonsense):
    [name] = nonsense
    with pytest.raises(ValueError, match=f"^{name} is "):
        SensorState.from_json({"control": 0, **nonsense})


STATE_KEYS = [
    "control",
    "program",
    "sample_period_ms",
    "columns",
    "ranges",
    "asleep",
    "battery",
    "listens_ms",
    "kind",
    "units",
]
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=3) | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=5,
)


@given(state=states, key=st.sampled_from([*STATE_KEYS]), value=json_values)
def test_state_with_anything_in_a_field_is_read_or_told(state, key, value):
    try:
        found = SensorState.from_json({**state.to_json(), key: value})
    except ValueError as error:
        told = str(error)
    else:
        told = key
        assert json.dumps(found.to_json(), allow_nan=False).encode()
    assert key in told
