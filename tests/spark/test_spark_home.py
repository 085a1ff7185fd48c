import os
from pathlib import Path

import pyspark
import pytest

from skerry.spark.spark_home import use_compiled_home


@pytest.fixture
def _no_home(monkeypatch, tmp_path):
    monkeypatch.setenv("SPARK_HOME", "")  # so that it is put back as it was
    monkeypatch.delenv("SPARK_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


@pytest.mark.usefixtures("_no_home")
def test_home_has_spark_but_no_zip():
    use_compiled_home()
    home = Path(os.environ["SPARK_HOME"])
    assert (home / "jars").samefile(Path(pyspark.__file__).parent / "jars")
    assert not (home / "python").exists()


@pytest.mark.usefixtures("_no_home")
def test_home_is_made_once():
    use_compiled_home()
    first = os.environ.pop("SPARK_HOME")
    use_compiled_home()
    assert os.environ["SPARK_HOME"] == first


def test_home_of_the_users_choice_stays(monkeypatch):
    monkeypatch.setenv("SPARK_HOME", "/opt/spark")
    use_compiled_home()
    assert os.environ["SPARK_HOME"] == "/opt/spark"


@pytest.mark.usefixtures("_no_home")
def test_home_is_a_temporary_one_where_the_cache_cannot_be_written(monkeypatch, tmp_path):
    (tmp_path / "skerry").write_text("in the way")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    use_compiled_home()
    assert Path(os.environ["SPARK_HOME"]).is_relative_to(tmp_path)
