import os

import pyarrow as pa
import pytest

from skerry.catalog import Source
from skerry.errors import OptionError, SourceError
from skerry.sources.tables import Tables

SCHEMA = pa.schema({"id": pa.int64(), "place": pa.string()})


def table(connector="file"):
    return Source("sensors", SCHEMA, connector, {"path": "*.csv"}, is_table=True)


def write(folder, text, *, moment):
    path = folder / "sensors.csv"
    path.write_text(text)
    os.utime(path, (moment, moment))


def opened(folder):
    write(folder, "id,place\n1,bridge\n", moment=1)
    return Tables([table()], folder)


def test_table_is_read_whole(tmp_path):
    assert opened(tmp_path).rows("sensors").to_pylist() == [{"id": 1, "place": "bridge"}]


def test_version_stays_while_nothing_changes(tmp_path):
    tables = opened(tmp_path)
    assert tables.versions() == tables.versions()


def test_table_that_changed_is_read_again(tmp_path):
    tables = opened(tmp_path)
    before = tables.versions()
    write(tmp_path, "id,place\n1,tunnel\n", moment=2)
    assert tables.versions() != before
    assert tables.rows("sensors").to_pylist() == [{"id": 1, "place": "tunnel"}]


def test_table_of_several_files_grows_by_one(tmp_path):
    tables = opened(tmp_path)
    (tmp_path / "more.csv").write_text("id,place\n2,ramp\n")
    tables.versions()
    assert tables.rows("sensors").num_rows == 2


def test_table_that_became_unreadable_stays_what_it_was(tmp_path, caplog):
    tables = opened(tmp_path)
    before = tables.versions()
    write(tmp_path, "id,place\nno number,tunnel\n", moment=2)
    assert tables.versions() == before
    assert "sensors.csv:byte 9" in caplog.text


def test_garbled_row_at_the_start_is_told(tmp_path):
    write(tmp_path, "id,place\nx,bridge\n", moment=1)
    with pytest.raises(SourceError, match=r"table 'sensors': .*sensors.csv:byte 9: column id: 'x' is not BIGINT"):
        Tables([table()], tmp_path)


def test_simulated_table_is_refused(tmp_path):
    with pytest.raises(OptionError, match="needs connector 'file'"):
        Tables([table("sim")], tmp_path)
