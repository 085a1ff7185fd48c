import subprocess
import sys

import pytest

import skerry


def test_public_names_are_these():
    assert skerry.__all__ == ["Database", "Settings", "SkerryError", "__version__", "connect"]


@pytest.mark.parametrize("name", skerry.__all__)
def test_public_name_is_there(name):
    assert getattr(skerry, name) is not None


def test_unknown_name_is_an_ordinary_attribute_error():
    with pytest.raises(AttributeError, match=r"module 'skerry' has no attribute 'conect'"):
        _ = skerry.conect


def test_import_loads_neither_spark_nor_the_database():
    told = "import sys, skerry; sys.exit('pyspark' in sys.modules or 'skerry.database' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", told]).returncode == 0
