from pathlib import Path

import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import OptionError
from skerry.sources.sim.connector import KINDS, SimConnector
from skerry.sources.sim.kind import KIND

SCHEMA = pa.schema({"sensor": pa.string()})


@pytest.mark.parametrize("options", [{}, {"kind": "traffic"}])
def test_kind_says_what_is_simulated(options):
    assert isinstance(SimConnector.open(Source("road", SCHEMA, "sim", options), Path()), KINDS["traffic"])


def test_each_kind_has_a_connector():
    assert KIND.parser.known == tuple(KINDS)


def test_unknown_kind_is_refused():
    message = "option kind of connector 'sim' must be 'traffic', the only kind there is; got 'weather'"
    with pytest.raises(OptionError, match=message):
        SimConnector.open(Source("road", SCHEMA, "sim", {"kind": "weather"}), Path())
