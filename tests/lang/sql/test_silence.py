import pytest

from skerry.model.time import MICROS
from skerry.plan.silence import Silence
from tests.lang.sql.plans import Sources

SOURCES = """
CREATE SOURCE road (station INT, ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='r.csv');
CREATE SOURCE old (sensor INT, ts TIMESTAMP) WITH (connector='file', path='o.csv');
"""
SCRIPT = Sources(SOURCES)
planned, refused = SCRIPT.planned, SCRIPT.refused


def select(columns, *arguments, stream="road"):
    return f"SELECT {columns} FROM SILENCE({stream}, ts, {', '.join(arguments)}) AS s"


def test_the_column_that_tells_sensors_apart_keeps_its_name():
    found = planned(select("*", "INTERVAL '30' SECOND", "across => station")).root
    assert found.schema.names == ["station", "last_ts", "ts"]


def test_an_expression_tells_sensors_apart_too():
    found = planned(select("*", "INTERVAL '30' SECOND", "across => station % 2", "returns => TRUE")).root
    assert found.schema.names == ["sensor", "last_ts", "ts", "until"]


def test_without_across_the_whole_stream_is_one():
    found = SCRIPT.found(Silence, select("ts", "INTERVAL '30' SECOND"))
    assert (found.keys, found.gap_us, found.forget_us) == ((), 30_000_000, MICROS["DAY"])


def test_events_can_be_windowed_over_by_their_time():
    assert planned(select("ts", "INTERVAL '30' SECOND")).root.time_columns == ["ts"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (select("ts", "across => station"), "SILENCE has a stream, its time and an interval"),
        (select("ts", "INTERVAL '0' SECOND"), "a silence lasts longer than zero"),
        (select("ts", "INTERVAL '1' SECOND", "key => station"), "known are across, returns, forget_after"),
        (select("ts", "INTERVAL '1' SECOND", "across => spede"), "unknown column 'spede'"),
        (select("ts", "INTERVAL '1' SECOND", "returns => 1"), "returns is TRUE or FALSE, got 1"),
        (select("ts", "INTERVAL '1' SECOND", stream="old"), "declare WATERMARK FOR ts AS ts"),
        (
            select("ts", "INTERVAL '1' SECOND", "forget_after => INTERVAL '1' HOUR"),
            "write returns => TRUE too",
        ),
        (
            select("ts", "INTERVAL '1' DAY", "returns => TRUE", "forget_after => INTERVAL '1' HOUR"),
            "forget_after is shorter than the silence itself",
        ),
        (select("COUNT(*)", "INTERVAL '1' SECOND"), "make it a view, and write FROM TUMBLE(view, ts, ...)"),
    ],
)
def test_what_cannot_be_is_refused(query, message):
    assert message in refused(query)
