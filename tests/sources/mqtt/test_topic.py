import re
from pathlib import Path

import pyarrow as pa
import pytest

from skerry import Settings, connect
from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.sources.mqtt import MqttConnector
from skerry.sources.mqtt.options import MqttOptions
from skerry.sources.mqtt.topic import Topic


@pytest.mark.parametrize(
    ("text", "asked", "topic", "found"),
    [
        ("i80/{sensor}/data", "i80/+/data", "i80/a b/data", {"sensor": "a b"}),
        ("{site}/+/{sensor}/#", "+/+/+/#", "s/x/7/a/b", {"site": "s", "sensor": "7"}),
        ("{site}/+/{sensor}/#", "+/+/+/#", "s/x/7", {"site": "s", "sensor": "7"}),
        ("plain.text/x", "plain.text/x", "plain.text/x", {}),
        ("#", "#", "any/thing", {}),
        ("/{a}", "/+", "/", {"a": ""}),
    ],
)
def test_levels_in_braces_are_columns(text, asked, topic, found):
    read = Topic.parse(text)
    assert (read.filter, re.fullmatch(read.pattern, topic).groupdict()) == (asked, found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a/#/b", "has a # that is not its last level"),
        ("a/b+", "has a level 'b\\+'"),
        ("a/{b", "has a level '{b'"),
        ("a/{1b}", "has a level '{1b}'"),
        ("{a}/{a}", "fills a column twice"),
        ("", "1 to 65535 bytes"),
        ("$share/group/i80/{sensor}/data", "is a shared subscription; name the topic itself, 'i80/{sensor}/data'"),
    ],
)
def test_wrong_topics_are_told(text, message):
    with pytest.raises(OptionError, match=message):
        Topic.parse(text)


def test_options_are_declared():
    with pytest.raises(OptionError, match=r"unknown option 'tpic' of connector 'mqtt'.*topic"):
        MqttOptions.parse({"url": "mqtt://a", "tpic": "b"})


@pytest.mark.parametrize(
    ("topic", "columns", "is_anonymous"),
    [
        ("i80/{sensor}/data", ("sensor",), False),
        ("home/{room}/data", ("room",), False),
        ("all", ("sensor",), False),
        ("all", ("device",), True),
        ("{site}/{floor}/data", ("site", "floor", "device"), True),
    ],
)
def test_sensor_is_a_column_of_that_name_or_the_one_that_the_topic_fills(topic, columns, is_anonymous):
    schema = pa.schema([(name, pa.string()) for name in columns])
    source = Source("s", schema, "mqtt", {"url": "mqtt://a", "topic": topic, "sequence": "seq"})
    assert MqttConnector.open(source, Path())._identity().is_anonymous == is_anonymous


def test_two_sources_with_one_name_for_the_broker_are_refused():
    source = """CREATE SOURCE {0} (sensor VARCHAR, ts TIMESTAMP, WATERMARK FOR ts AS ts)
        WITH (connector='mqtt', url='mqtt://127.0.0.1:{1}', topic='{0}/{{sensor}}/data', client_id='me');
        CREATE MATERIALIZED VIEW of_{0} AS SELECT * FROM {0};"""
    database = connect()
    database.execute(source.format("a", 1) + source.format("b", 2))
    database.pipeline(database.plans(), Settings("fjord"))
    database.execute(source.format("c", 1))
    with pytest.raises(OptionError, match=r"sources 'a' and 'c' both have client_id 'me' at mqtt://127"):
        database.pipeline(database.plans(), Settings("fjord"))
