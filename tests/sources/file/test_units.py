"""How many readings a step has, of a single file."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from skerry.replay.replay import Replay
from tests.sources.file.stored import opened

ROWS = 2_000
COLUMNS = {"row": "BIGINT"}


def write(path):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"row": range(ROWS)}), path)
    elif path.suffix == ".csv":
        path.write_text("row\n" + "".join(f"{row:09}\n" for row in range(ROWS)))
    else:
        path.write_text("".join(f'{{"row": "{row:09}"}}\n' for row in range(ROWS)))


def step_rows(connector, most):
    replay, found = Replay([connector], most), []
    position = replay.start()
    while not position["done"]:
        following = replay.next(position)
        splits = replay.splits(position, following)
        found.append(
            [row for split in splits for unit in connector.read(split) for row in unit.readings["row"].to_pylist()]
        )
        position = following
    return found


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize("most", [7, 300, 5_000])
def test_a_step_of_a_single_file_has_about_as_many_readings_as_it_may(tmp_path, suffix, most):
    write(tmp_path / f"a.{suffix}")
    steps = step_rows(opened(tmp_path / f"a.{suffix}", COLUMNS, None).divide(most), most)
    assert [row for rows in steps for row in rows] == list(range(ROWS))
    assert max(map(len, steps)) <= 2 * most
    assert len(steps) == pytest.approx(max(1, ROWS / most), rel=0.2)
