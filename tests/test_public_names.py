import subprocess
import sys
from pathlib import Path

import pytest

import skerry


def test_public_names_are_these():
    assert skerry.__all__ == [
        "CatalogError",
        "Database",
        "FileSink",
        "InputError",
        "Limits",
        "MemorySink",
        "OptionError",
        "Outcome",
        "RuleError",
        "RunError",
        "RunningPipeline",
        "RunningView",
        "Sensor",
        "Settings",
        "SetupError",
        "Sink",
        "SkerryError",
        "Source",
        "SourceError",
        "SqlError",
        "StandingView",
        "Subscription",
        "Tally",
        "View",
        "WaitTimeout",
        "__version__",
        "connect",
    ]


def test_public_names_are_listed_though_they_are_not_loaded():
    assert set(skerry.__all__) <= set(dir(skerry))


def test_types_are_shipped():
    assert (Path(skerry.__file__).parent / "py.typed").exists()


@pytest.mark.parametrize("name", skerry.__all__)
def test_public_name_is_there(name):
    assert getattr(skerry, name) is not None


def test_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'skerry' has no attribute 'conect'"):
        _ = skerry.conect


def test_import_loads_neither_spark_nor_the_database():
    told = "import sys, skerry; sys.exit('pyspark' in sys.modules or 'skerry.database' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told]).returncode == 0
