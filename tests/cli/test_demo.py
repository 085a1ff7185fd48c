"""What the demo shows is what its road does."""

from datetime import UTC, datetime
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest
from rich.console import Console
from typer.testing import CliRunner

import skerry.cli
from skerry.catalog import Catalog
from skerry.cli import app
from skerry.cli.demo_board import Board
from skerry.database import Database
from skerry.errors import InputError
from skerry.model.time import MICROS, Micros, seconds
from skerry.pipeline.outcome import Outcome, Tally
from skerry.sources.sim.traffic.connector import TrafficConnector

FOLDER = Path(skerry.cli.__file__).parent / "traffic"
BEGIN = seconds(datetime(2000, 6, 5, 6, 30, tzinfo=UTC).timestamp())


def test_incidents_that_are_reported_happen_on_the_road():
    database = Database(Catalog.in_memory(), FOLDER)
    database.execute((FOLDER / "traffic.sql").read_text())
    road = TrafficConnector.open(next(source for source in database.catalog.sources() if source.name == "traffic"))
    table = pyarrow.csv.read_csv(FOLDER / "incidents.csv")
    times = table.column("ts").cast(pa.timestamp("s")).cast(pa.int64()).to_pylist()
    reported = list(zip(times, *(table.column(name).to_pylist() for name in ("segment", "description")), strict=True))
    happened = road.incidents(BEGIN, Micros(BEGIN + 4 * MICROS["DAY"]))
    assert reported == [(each.begin_us // MICROS["SECOND"], each.segment, each.description) for each in happened]


def test_scripts_are_written_to_play_with_and_nothing_is_replaced(tmp_path):
    command = ["demo", "--script", str(tmp_path / "play")]
    printed = CliRunner().invoke(app, command).stdout
    assert printed.startswith(f"cd {tmp_path / 'play'} && skerry run traffic.sql")
    assert sorted(path.name for path in (tmp_path / "play").iterdir()) == sorted(p.name for p in FOLDER.iterdir())
    with pytest.raises(InputError, match="exists already; name another folder"):
        CliRunner().invoke(app, command, catch_exceptions=False)


def test_seconds_that_are_none_are_refused():
    assert CliRunner().invoke(app, ["demo", "--seconds", "-5"]).exit_code == 2


def read_board(board: Board) -> str:
    console = Console(width=120, record=True, file=StringIO())
    console.print(board.draw())
    return console.export_text()


def test_board_says_what_it_waits_for():
    board = Board()
    assert read_board(board) == "Spark starts ...\n"
    board.note("compiling index (once)")
    assert read_board(board) == "Spark starts; compiling index (once) ...\n"


def test_board_shows_every_segment_and_a_line_for_each_query():
    board, at = Board(), datetime(2000, 6, 5, 7, 0, tzinfo=UTC).replace(tzinfo=None)
    board.open({}, resume=False)
    board.watch(Outcome(batches=1))
    assert read_board(board) == "the first batch is on its way ...\n"
    means = [{"segment": segment, "window_end": at, "speed": 10.0 * segment} for segment in range(1, 9)]
    board.write("means", 0, pa.RecordBatch.from_pylist(means))
    mine = [{"segment": 3, "window_start": at, "speed": 30.0, "vehicles": 17}]
    board.write("my_road", 0, pa.RecordBatch.from_pylist(mine))
    board.write("jams", 0, pa.RecordBatch.from_pylist([{"_op": "+", "a": 1, "b": 4}]))
    board.watch(Outcome({"traffic": Tally(90, 2)}, {"traffic": BEGIN}, {"subscriptions": 1_234}, batches=2))
    shown = read_board(board)
    assert [line.split()[1:4:2] for line in shown.splitlines() if "│" in line][2] == ["3", "30"]
    assert "road time 06:30:00: 92 readings" in shown
    assert "1970" not in shown
    for line in ("(stretches.dl): 1 to 4", "told 1,234 times", "no minute yet", "nobody crawls"):
        assert line in shown
