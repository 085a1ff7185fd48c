import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skerry.model.time import Micros
from skerry.sources.sim.traffic.incidents import Incident, draw_incidents
from skerry.sources.sim.traffic.road import Road

ROAD = Road(32, 4)
MINUTE, DAY = 60_000_000, 86_400_000_000
MONDAY = 960_163_200_000_000


def test_incidents_come_as_often_as_asked():
    found = draw_incidents(1, 2.0, ROAD, Micros(MONDAY), Micros(MONDAY + 100 * DAY))
    assert 4_500 < len(found) < 5_100


def test_no_incident_comes_where_none_is_asked_for():
    assert draw_incidents(1, 0.0, ROAD, Micros(MONDAY), Micros(MONDAY + DAY)) == []


def test_incidents_fall_on_every_segment_and_side():
    found = draw_incidents(1, 2.0, ROAD, Micros(MONDAY), Micros(MONDAY + 30 * DAY))
    assert {(jam.segment, jam.side) for jam in found} == {(n, side) for n in range(1, 9) for side in ("east", "west")}


@given(begin=st.integers(0, DAY), length=st.integers(1, 3_600_000_000))
def test_incidents_of_a_part_are_those_of_the_whole_that_touch_it(begin, length):
    first, stop = MONDAY + begin, MONDAY + begin + length
    whole = draw_incidents(1, 6.0, ROAD, Micros(MONDAY - DAY), Micros(MONDAY + 3 * DAY))
    touching = [jam for jam in whole if jam.end_us > first and jam.begin_us < stop]
    assert draw_incidents(1, 6.0, ROAD, Micros(first), Micros(stop)) == touching


def test_effect_builds_up_holds_and_clears():
    jam = Incident(Micros(0), Micros(30 * MINUTE), 3, "east", 0.5, "collision")
    assert jam.effect(np.array([0, 1, 2, 20, 25, 30]) * MINUTE).tolist() == [0.0, 0.25, 0.5, 0.5, 0.5, 0.0]
