import re

import pytest

from skerry.errors import OptionError
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
    ],
)
def test_wrong_topics_are_told(text, message):
    with pytest.raises(OptionError, match=message):
        Topic.parse(text)


def test_options_are_declared():
    with pytest.raises(OptionError, match=r"unknown option 'tpic' of connector 'mqtt'.*topic"):
        MqttOptions.parse({"url": "mqtt://a", "tpic": "b"})
