from skerry.sources.sim.traffic.lane import Blocks, TrafficLane
from skerry.sources.sim.traffic.settings import Settings

START = 960_184_800_000_000


class Clock:
    now = 100.0

    def __call__(self):
        return self.now


def lane(clock=None, stations=8, **options):
    settings = Settings.parse(options)
    return TrafficLane("traffic-0", Blocks.of(settings, stations), settings, stations, clock or Clock())


def test_bounded_lane_has_all_its_units_at_once():
    assert lane(duration="1h").count() == 24


def test_units_follow_each_other_without_a_gap():
    hour = lane(duration="1h")
    assert hour.first(0) == START
    assert all(hour.first(unit + 1) == hour.last(unit) + 1_000_000 for unit in range(23))
    assert hour.last(23) == START + 3_599_000_000


def test_weights_add_up_to_the_readings_expected():
    hour = lane(duration="1h", missing="0")
    assert sum(hour.weight(unit) for unit in range(hour.count())) == 3600 * 8 * 4
    assert max(hour.weight(unit) for unit in range(hour.count())) <= 5_000


def test_a_unit_has_a_tick_at_least():
    assert lane(duration="10s", stations=10_000).count() == 10


def test_live_unit_comes_when_its_time_has_passed():
    clock = Clock()
    live = lane(clock)
    assert live.count() == 0
    clock.now += 2.5
    assert live.count() == 2


def test_live_lane_plays_faster_on_request():
    clock = Clock()
    live = lane(clock, speedup="60")
    clock.now += 2.5
    assert live.count() == 150


def test_units_do_not_depend_on_the_speed():
    assert lane(speedup="1").last(7) == lane(speedup="3600").last(7) == lane(rate="5").last(7)


def test_live_lane_goes_on_from_where_it_is_resumed():
    clock = Clock()
    live = lane(clock)
    live.resume_at(1_000)
    assert live.count() == 1_000
    clock.now += 3
    assert live.count() == 1_003
