import pytest

from skerry.errors import OptionError
from skerry.sinks.files import FileSink
from skerry.sinks.memory import MemorySink
from skerry.sinks.sinks import SINKS, make_sink


def test_sinks_are_made_by_name(tmp_path):
    assert isinstance(make_sink("files", {"folder": str(tmp_path)}), FileSink)
    assert isinstance(make_sink("memory", {}), MemorySink)


@pytest.mark.parametrize("name", SINKS)
def test_sink_declares_its_options(name):
    assert all(option.help for option in SINKS[name].OPTIONS)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("file", {}, r"unknown sink 'file'; known are files, memory; did you mean 'files'\?"),
        ("files", {}, "option folder of sink 'files' is missing; give one such as 'out'"),
        ("files", {"folder": "out", "format": "xml"}, "unknown format 'xml'; known are parquet, csv, jsonl"),
        ("files", {"folder": "out", "fromat": "csv"}, "unknown option 'fromat' of sink 'files'; it has folder, format"),
        ("memory", {"format": "csv"}, "unknown option 'format' of sink 'memory'; it has none"),
    ],
)
def test_wrong_sink_is_refused(name, options, message):
    with pytest.raises(OptionError, match=message):
        make_sink(name, options)
