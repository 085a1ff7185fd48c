import pyarrow as pa
import pytest

from skerry.plan.gather import Gather
from tests.lang.sql.plans import Sources

SOURCES = """
CREATE SOURCE readings (sensor INT, ts TIMESTAMP, gas VARCHAR, WATERMARK FOR ts AS ts)
WITH (connector='file', path='r.csv');
CREATE SOURCE gas_n (gas INT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector='file', path='n.csv');
CREATE SOURCE gas_s (gas BIGINT, ts TIMESTAMP, WATERMARK FOR ts AS ts)
WITH (connector='file', path='s.csv');
CREATE SOURCE old (gas INT)
WITH (connector='file', path='o.csv');
"""
CALL = "GATHER(readings, key => gas, across => sensor, within => INTERVAL '60' SECOND, min_arity => 2)"


SCRIPT = Sources(SOURCES)
planned, refused = SCRIPT.planned, SCRIPT.refused


def gather_of(query, options=""):
    return SCRIPT.found(Gather, query, options)


def test_arguments_are_taken_by_name():
    found = gather_of(f"SELECT key FROM {CALL} AS g")
    assert (found.span_us, found.min_arity, found.early, found.flatten) == (60_000_000, 2, False, False)


def test_answer_has_key_sensor_time_arity_and_members():
    assert planned(f"SELECT * FROM {CALL}").root.schema.names == ["key", "sensor", "ts", "arity", "members"]


def test_one_sensor_is_enough_unless_told_otherwise():
    assert (
        gather_of(
            "SELECT key FROM GATHER(readings, key => gas, across => sensor, within => INTERVAL '1' SECOND)"
        ).min_arity
        == 1
    )


def test_early_answers_are_asked_for_with_emit():
    assert gather_of(f"SELECT key FROM {CALL}", "WITH (emit='early')").early


def test_family_of_streams_is_found_by_pattern():
    found = gather_of("SELECT key FROM GATHER('gas_*', key => gas, within => INTERVAL '1' SECOND)")
    assert [relation.input.source.name for relation in found.relations] == ["gas_n", "gas_s"]
    assert found.schema.field("key").type == pa.int64()
    assert found.schema.field("sensor").type == pa.string()


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("SELECT key FROM GATHER(readings, key => gas, within => INTERVAL '1' SECOND)", "GATHER needs across"),
        ("SELECT key FROM GATHER(readings, across => sensor, within => INTERVAL '1' SECOND)", "GATHER needs key"),
        ("SELECT key FROM GATHER(readings, key => gas, across => sensor)", "GATHER needs within"),
        ("SELECT key FROM GATHER(key => gas)", "GATHER begins with a stream"),
        ("SELECT key FROM GATHER('x_*', key => gas, within => INTERVAL '1' SECOND)", "unknown stream 'x_*'"),
        ("SELECT key FROM GATHER(nowhere, key => gas, across => s, within => INTERVAL '1' SECOND)", "unknown stream"),
        ("SELECT key FROM GATHER(readings, key => smell, across => sensor, within => INTERVAL '1' SECOND)", "'smell'"),
        ("SELECT key FROM GATHER(readings, kee => gas)", "GATHER does not know"),
        ("SELECT key FROM GATHER(old, key => gas, across => gas, within => INTERVAL '1' SECOND)", "needs a time"),
        (f"SELECT smell FROM {CALL}", "unknown column 'smell'"),
        (f"SELECT COUNT(*) FROM {CALL}", "an aggregate over GATHER"),
        (f"SELECT key FROM {CALL.replace('=> 2', '=> 0')}", "min_arity is a number from 1"),
        (f"SELECT key FROM {CALL.replace('2)', '2, flatten => 3)')}", "flatten is TRUE or FALSE"),
        (f"SELECT key FROM {CALL.replace('60', '-60')}", "within is negative"),
    ],
)
def test_gather_that_means_nothing_is_told(query, told):
    assert told in refused(query)
