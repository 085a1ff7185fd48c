import pytest
import sqlglot
from sqlglot import exp

from skerry.errors import OptionError
from skerry.sources.sim.traffic.settings import TRAFFIC_OPTIONS, Settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("kind", "weather"),
        ("sensors", "1"),
        ("sensors", "many"),
        ("sensors", "-32"),
        ("lanes", "0"),
        ("lanes", "17"),
        ("sample_period", "1"),
        ("sample_period", "0s"),
        ("sample_period", "1 fortnight"),
        ("sample_period", "1h"),
        ("seed", "x"),
        ("start_time", "tomorrow"),
        ("duration", "0s"),
        ("duration", "-1s"),
        ("rate", "0"),
        ("speedup", "fast"),
        ("missing", "1.5"),
        ("missing", "nan"),
        ("garbled", "-0.1"),
        ("incidents", "61"),
        ("disorder", "3"),
    ],
)
def test_bad_value_is_named_with_its_option(name, value):
    with pytest.raises(OptionError, match=rf"^option {name} .*; got '{value}'$"):
        Settings.parse({name: value})


def test_unknown_option_lists_the_known_ones():
    with pytest.raises(OptionError, match=r"unknown option 'sensor'.*disorder, .*sensors, .*start_time"):
        Settings.parse({"sensor": "32"})


def test_rate_and_speedup_exclude_each_other():
    with pytest.raises(OptionError, match="give one of the two"):
        Settings.parse({"rate": "10", "speedup": "10"})


@pytest.mark.parametrize(
    ("text", "period_us"), [("250ms", 250_000), ("1s", 10**6), ("1min", 6 * 10**7), ("1.5s", 1_500_000)]
)
def test_spans_are_read_with_their_units(text, period_us):
    assert Settings.parse({"sample_period": text}).period_us == period_us


@pytest.mark.parametrize("text", ["2000-06-05 06:00:00", "2000-06-05T06:00:00", "2000-06-05T08:00:00+02:00"])
def test_start_is_utc_unless_it_says_otherwise(text):
    assert Settings.parse({"start_time": text}).start_us == 960_184_800_000_000


def test_last_tick_begins_before_the_end():
    assert Settings.parse({"duration": "10s", "sample_period": "3s"}).periods == 4


def test_rate_counts_readings_of_all_loops():
    settings = Settings.parse({"sensors": "10", "lanes": "2", "sample_period": "500ms", "rate": "400"})
    assert settings.speedup == 10.0


@pytest.mark.parametrize("name", sorted(option.name for option in TRAFFIC_OPTIONS))
def test_option_survives_the_round_trip_through_sql(name):
    text = f"CREATE SOURCE traffic (ts TIMESTAMP) WITH (connector='sim', {name}='1', last='2')"
    once = sqlglot.parse_one(text, read="risingwave")
    again = sqlglot.parse_one(once.sql("risingwave"), read="risingwave")
    assert {option.name: option.text("value") for option in again.find_all(exp.Property)}[name] == "1"
