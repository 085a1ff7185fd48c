"""A mote without a broker: what it measures, what it is told, what it uses."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.model.time import Micros, seconds
from skerry.sources.sim.motes import FleetSettings
from skerry.sources.sim.motes.kinds import KINDS
from skerry.sources.sim.motes.mote import Hearing, Mote
from skerry.sources.sim.motes.recorder import Recorder

START = Micros(1_780_000_000_000_000)
PROGRAMS = [(kind, program.name) for kind in KINDS for program in KINDS[kind].programs]
PERIODS = st.sampled_from([100_000, 1_000_000, 2_500_000])


def build(kind: str = "air", **wanted) -> Mote:
    return Mote(FleetSettings({kind: 9}, **wanted), KINDS[kind], index=3, number=3)


def tell(mote: Mote, number: int, **setting) -> Hearing:
    return mote.hear(json.dumps({"control": number, **setting}).encode(), is_listening=True)


@settings(max_examples=25)
@given(st.sampled_from(PROGRAMS), st.lists(st.integers(0, 70_000_000), max_size=4), PERIODS)
def test_readings_do_not_depend_on_how_time_is_cut(chosen, cuts, period_us):
    kind, program = chosen
    stop_us, recorder = Micros(START + 70_000_000), Recorder(KINDS[kind], 1, 3)
    recorder.use(program, Micros(period_us))
    edges = sorted([START, stop_us, *(START + cut for cut in cuts)])
    found = [each for first, stop in pairwise(edges) for each in recorder.take(first, stop)]
    whole = KINDS[kind].measure(1, 3, program, START, stop_us, Micros(period_us))
    assert found == list(zip(whole.time_us.tolist(), whole.list_rows(), strict=True))


@pytest.mark.parametrize(("kind", "program"), PROGRAMS)
def test_a_program_delivers_the_columns_that_it_says(kind, program):
    known = next(each for each in KINDS[kind].programs if each.name == program)
    found = KINDS[kind].measure(1, 0, program, START, Micros(START + seconds(120)), KINDS[kind].sample_period_us)
    assert {"sensor", "ts", *found.columns} == set(known.columns)
    assert found.time_us.size > 0
    assert (found.ready_us[:-1] <= found.ready_us[1:]).all()
    assert (found.time_us <= found.ready_us).all()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_has_raw_and_something_cheaper(kind):
    raw, *others = KINDS[kind].programs
    assert raw.name == "raw"
    assert any(other.bits * other.count_readings(10.0) < raw.bits * raw.count_readings(10.0) for other in others)


def test_vehicles_and_counts_are_of_the_same_vehicles():
    span = (Micros(START), Micros(START + seconds(600)))
    flows = [sum(KINDS["traffic"].measure(1, 2, each, *span, seconds(1)).columns["flow"]) for each in ("raw", "counts")]
    assert flows[0] == flows[1] > 20
    vehicles = KINDS["traffic"].measure(1, 2, "vehicles", *span, seconds(1)).time_us.size
    assert abs(flows[0] - vehicles) <= 1  # one may be over the loop at either end


def test_ranges_leave_out_what_nobody_wants():
    mote = build()
    everything = [reading.columns["pm25"] for reading in build().measure(START, Micros(START + seconds(60)))]
    low, high = sorted(everything)[20], sorted(everything)[30]
    assert tell(mote, 1, ranges={"pm25": [[None, low], [high, None]], "other": [[0, 1]]}) is Hearing.TAKEN
    readings = mote.measure(START, Micros(START + seconds(60)))
    assert [reading.columns["pm25"] for reading in readings] == [x for x in everything if not low < x < high]
    assert [reading.sequence for reading in readings] == list(range(len(readings)))


def test_no_value_is_never_out_of_range():
    mote = build("traffic")
    tell(mote, 1, ranges={"speed": [[200, None]]})
    assert {reading.columns["speed"] for reading in mote.measure(START, Micros(START + seconds(60)))} == {None}


def test_control_is_taken_once_and_in_order():
    mote = build()
    assert tell(mote, 5, program="dust") is Hearing.TAKEN
    assert tell(mote, 5, program="raw") is Hearing.REPEATED
    assert tell(mote, 4, program="raw") is Hearing.REPEATED
    assert (mote.control, mote.setting.program) == (5, "dust")


@pytest.mark.parametrize("setting", [{"program": "sing"}, {"sample_period_ms": 0.001}, {"sample_period_ms": 1e9}])
def test_what_a_mote_cannot_do_it_refuses(setting):
    mote = build()
    assert tell(mote, 1, **setting) is Hearing.REFUSED
    assert (mote.control, mote.setting.program) == (0, "raw")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
ENDS = st.none() | st.integers() | st.floats() | st.text()
CONTROL = st.fixed_dictionaries(
    {"control": st.integers(1, 9) | JSON},
    optional={
        "program": JSON | st.just("dust"),
        "sample_period_ms": JSON,
        "columns": JSON | st.lists(st.just("pm25") | JSON, max_size=3),
        "ranges": JSON | st.dictionaries(st.just("pm25"), st.lists(st.lists(ENDS, min_size=2, max_size=2), max_size=3)),
        "asleep": JSON,
    },
)


@given(st.binary() | (CONTROL | JSON).map(lambda body: json.dumps(body).encode()))
def test_garbage_does_no_harm(payload):
    mote = build()
    mote.hear(payload, is_listening=True)
    mote.measure(START, Micros(START + seconds(5)))
    mote.spend(seconds(5), 1)
    assert json.dumps(mote.describe().to_json())


def test_a_mote_that_does_not_listen_hears_nothing():
    assert build().hear(b'{"control": 1}', is_listening=False) is Hearing.OUTSIDE
    dead = build()
    dead.is_alive = False
    assert dead.hear(b'{"control": 1}', is_listening=True) is Hearing.DEAD


@pytest.mark.parametrize(("program", "milliwatts"), [("raw", 12.75), ("counts", 0.37)])
def test_energy_is_that_of_figure_10(program, milliwatts):
    mote = build("traffic", program=program, sample_period_us=Micros(5_556))
    readings = mote.measure(START, Micros(START + seconds(10)))
    mote.spend(seconds(10), len(readings))
    assert mote.meter.total_mj / 10 == pytest.approx(milliwatts, rel=0.02)


def test_a_sleeping_mote_is_idle():
    mote = build()
    tell(mote, 1, asleep=True)
    assert mote.measure(START, Micros(START + seconds(100))) == []
    mote.spend(seconds(100), 0)
    assert mote.meter.total_mj == pytest.approx(3.0)
