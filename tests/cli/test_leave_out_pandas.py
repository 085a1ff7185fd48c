"""PyArrow without pandas: arrays are made all the same, and pandas is there for whoever asks."""

import subprocess
import sys

_PROGRAM = """
import sys
from skerry.cli.leave_out_pandas import leave_out_pandas
leave_out_pandas()
import pyarrow as pa
array = pa.array([1, None, 3])
assert "pandas" not in sys.modules
import numpy as np
assert pa.array(np.array([1, 2])).to_pylist() == [1, 2] and "pandas" not in sys.modules
frame = pa.table({"a": array}).to_pandas()
assert frame["a"].isna().sum() == 1 and pa.array(frame["a"], from_pandas=True).null_count == 1
"""


def test_arrays_are_made_without_pandas_which_can_still_be_asked_for():
    subprocess.run([sys.executable, "-c", _PROGRAM], check=True, timeout=120)


def test_run_in_process_loads_no_pandas(tmp_path):
    (tmp_path / "a.csv").write_text("ts,x\n2026-05-01 08:00:00,1.5\n")
    (tmp_path / "a.sql").write_text(
        "CREATE SOURCE a (ts TIMESTAMP, x DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='a.csv');"
        "CREATE MATERIALIZED VIEW high AS SELECT ts, x FROM a WHERE x > 1;"
    )
    program = (
        "import sys; from skerry.cli import run_command;"
        "code = run_command(['run', 'a.sql', '--runtime', 'fjord', '--format', 'csv']); "
        "sys.exit(code or 'pandas' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, timeout=120)
    assert "1.5" in next((tmp_path / "out" / "high").glob("*.csv")).read_text()
