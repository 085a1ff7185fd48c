from dataclasses import replace

import numpy as np
import pytest

from skerry.model.time import Micros, seconds
from skerry.sources.sim.traffic.loops import sample
from skerry.sources.sim.traffic.road import Road
from skerry.sources.sim.traffic.vehicles import LONGEST_TRIP_US, Traffic

MONDAY = 960_163_200_000_000
HOUR = 3_600_000_000
CALM = Traffic(seed=1, road=Road(32, 4), incidents_per_hour=0.0)
EAST, WEST = slice(0, None, 2), slice(1, None, 2)


def conditions(traffic, hour, day=0):
    """Mean speed and flow a minute, by pair, over half an hour, upstream and downstream."""
    samples = sample(traffic, range(32), Micros(MONDAY + day * 24 * HOUR + round(hour * HOUR)), 1_800_000_000, 1)
    shape = (16, 2, 4)
    return samples.speed.reshape(shape).mean(axis=2), samples.flow.reshape(shape).sum(axis=2)


def test_mornings_are_slow_towards_the_bridge_and_evenings_on_the_way_back():
    night, morning, evening = (conditions(CALM, hour)[0] for hour in (3, 8, 17.5))
    assert morning[WEST].mean() < 0.6 * night[WEST].mean()
    assert evening[EAST].mean() < 0.6 * night[EAST].mean()
    assert morning[EAST].mean() > 1.2 * morning[WEST].mean()


def test_rush_hours_bring_many_times_the_vehicles_of_the_night():
    assert conditions(CALM, 8)[1].sum() > 5 * conditions(CALM, 3)[1].sum()


def test_weekends_have_no_rush_hour():
    assert conditions(CALM, 8, day=5)[0][WEST].mean() > 1.3 * conditions(CALM, 8)[0][WEST].mean()


def test_an_incident_slows_its_segment_upstream_more_than_downstream():
    troubled = replace(CALM, incidents_per_hour=2.0)
    jam = max(troubled.incidents(Micros(MONDAY), Micros(MONDAY + 24 * HOUR)), key=lambda jam: jam.end_us - jam.begin_us)
    hour, pair = (jam.begin_us - MONDAY) / HOUR + 0.1, CALM.road.pair_of(jam.segment, jam.side)
    (slow, few), (free, many) = conditions(troubled, hour), conditions(CALM, hour)
    upstream, downstream = slow[pair] / free[pair]
    assert upstream < downstream < 1
    assert upstream < 0.75
    assert few[pair].sum() < 0.9 * many[pair].sum()


def test_an_incident_leaves_other_segments_alone():
    troubled = replace(CALM, incidents_per_hour=2.0)
    span = Micros(MONDAY + 10 * HOUR), Micros(MONDAY + 10 * HOUR + HOUR // 2)
    hit = {CALM.road.pair_of(jam.segment, jam.side) for jam in troubled.incidents(*span)}
    same = np.isclose(conditions(troubled, 10)[0], conditions(CALM, 10)[0]).all(axis=1)
    assert set(np.flatnonzero(~same)) <= hit


def test_vehicles_pass_downstream_a_few_seconds_after_upstream():
    seen = CALM.vehicles(range(16), Micros(MONDAY + 8 * HOUR), Micros(MONDAY + 8 * HOUR + seconds(600)))
    trip = seen.downstream_us - seen.upstream_us
    assert 1_000_000 < trip.min() < trip.max() <= LONGEST_TRIP_US
    assert np.median(trip) < 6_000_000


def test_downstream_flow_follows_upstream_flow():
    flow = sample(CALM, range(32), Micros(MONDAY + 10 * HOUR), 10_000_000, 360).flow.reshape(360, 16, 2, 4).sum(axis=3)
    assert np.corrcoef(flow[:, :, 0].ravel(), flow[:, :, 1].ravel())[0, 1] > 0.6


def test_traffic_of_a_pair_is_the_same_alone_and_with_others():
    span = Micros(MONDAY + 8 * HOUR), Micros(MONDAY + 8 * HOUR + seconds(60))
    alone, together = CALM.vehicles(range(5, 6), *span), CALM.vehicles(range(16), *span)
    there = together.pair == 5
    assert (alone.upstream_us == together.upstream_us[there]).all()
    assert (alone.feet == together.feet[there]).all()


@pytest.mark.parametrize("period_us", [250_000, 1_000_000, 30_000_000])
def test_loops_count_the_same_vehicles_however_often_they_report(period_us):
    span_us = 120_000_000
    flow = sample(CALM, range(32), Micros(MONDAY + 8 * HOUR), period_us, span_us // period_us).flow
    whole = sample(CALM, range(32), Micros(MONDAY + 8 * HOUR), span_us, 1).flow
    assert (flow.reshape(-1, whole.size).sum(axis=0) == whole).all()


def test_trucks_are_long_and_keep_right():
    seen = CALM.vehicles(range(16), Micros(MONDAY + 10 * HOUR), Micros(MONDAY + 11 * HOUR))
    trucks = np.bincount(seen.road_lane[seen.feet > 24]) / np.bincount(seen.road_lane)
    assert 0.08 < (seen.feet > 24).mean() < 0.12
    assert (np.diff(trucks) > 0).all()
    assert 10 < seen.feet.min() < seen.feet.max() < 73


@pytest.mark.parametrize("period_us", [250_000, 1_000_000, 30_000_000])
def test_samples_of_a_part_are_those_of_the_whole_in_a_jam_too(period_us):
    jammed, first_us = replace(CALM, incidents_per_hour=60.0), MONDAY + 8 * HOUR
    whole = sample(jammed, range(32), Micros(first_us), period_us, 50)
    part = sample(jammed, range(8, 12), Micros(first_us + 41 * period_us), period_us, 9)
    assert whole.speed.reshape(50, 32, 4)[41:, 8:12].ravel() == pytest.approx(part.speed, abs=0, nan_ok=True)
    assert (whole.occupancy.reshape(50, 32, 4)[41:, 8:12].ravel() == part.occupancy).all()
