import pytest

from skerry.errors import OptionError
from skerry.model.time import Micros
from skerry.sensors.forecast import Basis, Forecaster
from skerry.sensors.messages import Setting
from skerry.sensors.power import PowerModel
from skerry.sensors.seen import Seen, Stretch, Values
from skerry.sensors.traffic.programs import COUNTS, RAW, VEHICLES

SECOND = Micros(1_000_000)
SPEEDS = Values(tuple(float(mph) for mph in range(100)))


def setting(program=RAW, **ranges):
    return Setting(program.name, SECOND, ranges=ranges)


def seen(*stretches, **more):
    return Seen(tuple(Stretch(each, 3_600.0, count, count, 60, values) for each, count, values in stretches), **more)


def forecast(program, wanted, found=None, **model):
    return Forecaster(PowerModel(**model)).forecast(program, wanted, found or Seen())


def test_what_the_sensor_has_done_already_is_counted():
    slow = setting(speed=((None, 30.0),))
    found = forecast(RAW, slow, seen((slow, 360, {})))
    assert (found.basis, found.passing) == (Basis.COUNTED, 0.1)
    assert found.power.radio_mw == pytest.approx(4.31e-3 * (16 * 0.1 + 24 * 60 / 3_600))


def test_share_of_readings_is_that_of_values_seen_without_ranges():
    found = forecast(RAW, setting(speed=((None, 29.0),)), seen((setting(), 3_600, {"speed": SPEEDS})))
    assert (found.basis, round(found.passing, 9)) == (Basis.SEEN, 0.3)
    assert found.least_mw <= found.total_mw <= found.most_mw


def test_narrower_ranges_are_a_share_of_what_wider_ones_let_pass():
    wide, slow = setting(speed=((None, 49.0),)), Values(tuple(float(mph) for mph in range(50)))
    found = forecast(RAW, setting(speed=((None, 24.0),)), seen((wide, 1_800, {"speed": slow})))
    assert found.passing == pytest.approx(0.25)


def test_values_that_were_never_let_pass_are_reckoned_with():
    low = setting(speed=((None, 49.0),))
    found = forecast(RAW, setting(speed=((50.0, None),)), seen((low, 1_800, {"speed": Values((10.0, 20.0))})))
    assert found.passing == pytest.approx(0.5)
    assert found.least_mw < found.most_mw


@pytest.mark.parametrize(("hours", "is_known"), [(1, False), (12, False), (24, True), (300, True)])
def test_limits_are_a_tenth_around_once_a_day_was_seen_and_all_that_there_can_be_before(hours, is_known):
    slow, all_values = setting(speed=((None, 49.0),)), {"speed": SPEEDS}
    known = Seen((Stretch(setting(), hours * 3_600.0, hours * 3_600, hours * 3_600, 60, all_values),))
    found, unknown = forecast(RAW, slow, known), forecast(RAW, slow)
    assert found.basis is Basis.SEEN
    if is_known:
        assert (found.least_mw, found.most_mw) == pytest.approx((0.9 * found.total_mw, 1.1 * found.total_mw), rel=0.05)
    else:
        assert (found.least_mw, found.most_mw) == pytest.approx((unknown.least_mw, unknown.most_mw))


def test_without_anything_seen_all_readings_are_reckoned_with():
    found = forecast(RAW, setting(speed=((None, 30.0),)))
    assert (found.basis, found.passing) == (Basis.UNKNOWN, 1.0)
    assert found.total_mw == pytest.approx(forecast(RAW, setting()).total_mw)
    assert found.least_mw < found.total_mw


def test_vehicles_are_as_many_as_counts_have_counted():
    flow = {"flow": Values((0.0, 1.0), mean=0.25)}
    found = forecast(VEHICLES, setting(VEHICLES), seen((setting(COUNTS), 3_600, flow)))
    assert found.basis is Basis.SEEN
    assert found.power.radio_mw == pytest.approx(4.31e-3 * (36 * 0.25 + 24 * 0.16), rel=0.1)
    assert forecast(VEHICLES, setting(VEHICLES)).basis is Basis.UNKNOWN


def test_every_message_opens_a_window():
    found = forecast(RAW, setting(), seen(listens_us=Micros(20_000)), listening_mw=10.0)
    assert found.power.listening_mw == pytest.approx(0.2)
    asleep = Forecaster(PowerModel(listening_mw=10.0)).forecast_asleep(Seen())
    assert asleep.power.listening_mw == pytest.approx(10.0 * 0.05 / 3)


def test_a_rate_left_to_the_sensor_is_the_one_it_was_built_with():
    built = forecast(RAW, Setting("raw"), seen(built_period_us=Micros(200_000)))
    assert built.total_mw == pytest.approx(forecast(RAW, Setting("raw", Micros(200_000))).total_mw)


def test_a_rate_that_is_too_high_is_refused():
    with pytest.raises(OptionError, match="can take up to 3,571 samples per second"):
        forecast(RAW, Setting("raw", Micros(100)))
