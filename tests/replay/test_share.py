import gzip
from collections import Counter
from datetime import datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from skerry.catalog import Source
from skerry.replay.replay import Replay
from skerry.replay.share import InputShare
from skerry.sources.connectors import open_connector
from tests.replay.test_replay import SCHEMA, connector, replayed, sources, step_sizes

TIMES = [datetime(2026, 1, 1) + timedelta(seconds=second) for second in range(4_000)]
TEXT = "ts,row\n" + "".join(f"{moment},{row}\n" for row, moment in enumerate(TIMES))
TABLE = pa.table({"ts": pa.array(TIMES, SCHEMA[0].type), "row": pa.array(range(4_000), pa.int64())})
ROWS = 500


def write(folder, name):
    """The same readings in a file of any format; gives the file's source, cut as a run with small batches would."""
    if name.endswith(".parquet"):
        pq.write_table(TABLE, folder / name, row_group_size=250)
    else:
        (folder / name).write_bytes(gzip.compress(TEXT.encode()) if name.endswith(".gz") else TEXT.encode())
    source = Source(name.partition(".")[0], SCHEMA, "file", {"path": name}, event_time="ts")
    return open_connector(source, folder).divide(ROWS)


def measure_steps(connectors, step_rows):
    """The share after each step, and how much of the input the steps have handed over until then."""
    positions, steps = replayed(connectors, step_rows)
    share, read = InputShare(connectors), Counter()
    shares, handed = [], []
    for position, step in zip(positions[1:], steps, strict=True):
        for found in connectors:
            read[found.definition.name] += sum(len(step.get(lane.name, [])) for lane in found.lanes())
        shares.append(share.at(position, read))
        handed.append(read.total())
    return shares, [rows / max(1, handed[-1]) for rows in handed]


@pytest.mark.parametrize("names", [["a.csv"], ["a.csv.gz"], ["a.parquet"], ["a.csv", "b.parquet"]])
def test_share_follows_what_has_been_read(tmp_path, names):
    shares, read = measure_steps([write(tmp_path, name) for name in names], ROWS)
    assert len(shares) >= 4 * len(names)
    assert shares == pytest.approx(read, abs=0.05)
    assert shares == sorted(shares)


def test_unit_that_is_cut_has_no_more_than_all_its_readings(tmp_path):
    for number in range(3):
        write(tmp_path, f"{number}.csv")
    files = open_connector(Source("a", SCHEMA, "file", {"path": "*.csv"}, event_time="ts"), tmp_path)
    share = InputShare([files])
    one_passed, two_cut = {"passed": 1, "open": {}}, {"passed": 1, "open": {"1": [0, 7]}}
    assert [lane.count() for lane in files.lanes()] == [1, 1, 1]
    for record, read, found in [(one_passed, 0, 1), (two_cut, 6_000, 1.5), (two_cut, 12_000, 2)]:
        assert share.at({"done": False, "lanes": {"a": record}}, {"a": read}) == pytest.approx(found / 3, abs=0.03)


@settings(max_examples=300, deadline=None)
@given(lanes=sources, step_rows=step_sizes)
def test_share_is_what_has_been_read_and_all_at_the_end_alone(lanes, step_rows):
    connectors = [connector(chr(97 + place), found) for place, found in enumerate(lanes)]
    shares, read = measure_steps(connectors, step_rows)
    assert shares[-1] == 1
    assert all(share is None or share < 1 for share in shares[:-1])
    if read[-1]:
        assert shares == pytest.approx(read)


def test_source_without_an_end_has_no_share():
    connectors = [connector("a", [[[1, 2]]]), connector("b", [[[1, 2]]], live=True)]
    assert InputShare(connectors).at(Replay(connectors, 10).start(), {}) is None


def test_there_is_no_share_once_a_source_has_come():
    known, more = connector("a", [[[1, 2]]]), connector("b", [[[1, 2]]])
    assert InputShare([known]).at(Replay([known], 10).start(), {}) == 0
    assert InputShare([known]).at(Replay([known, more], 10).start(), {}) is None
