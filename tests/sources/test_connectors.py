from pathlib import Path

import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.sources.connectors import CONNECTORS, open_connector

SCHEMA = pa.schema({"sensor": pa.string()})


def test_connectors_are_these():
    assert list(CONNECTORS) == ["file", "folder", "mqtt", "sim", "spark"]


@pytest.mark.parametrize("name", CONNECTORS)
def test_connector_declares_its_options(name):
    assert all(option.help for option in CONNECTORS[name].OPTIONS)


def test_source_is_opened_by_its_connector():
    connector = open_connector(Source("road", SCHEMA, "sim", {"kind": "traffic"}), Path())
    assert [lane.name for lane in connector.lanes()][:2] == ["traffic-0", "traffic-1"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fax", r"source 'road' has connector 'fax'; known are file, folder, mqtt, sim, spark$"),
        (
            "fiel",
            r"source 'road' has connector 'fiel'; known are file, folder, mqtt, sim, spark; did you mean 'file'\?$",
        ),
        ("spark", "source 'road' is read by Spark itself; run it with --runtime spark"),
    ],
)
def test_source_that_cannot_be_opened_is_refused(name, message):
    with pytest.raises(OptionError, match=message):
        open_connector(Source("road", SCHEMA, name), Path())
