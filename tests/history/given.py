"""A project whose run is recorded: a stream in files, one batch each, and views over it."""

from collections import Counter
from pathlib import Path

import duckdb

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink

BATCHES, ROWS = 12, 40
SCRIPT = """CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector='file', path='road/*.csv');
CREATE MATERIALIZED VIEW mean AS SELECT segment, window_start, AVG(speed) AS speed, COUNT(*) AS n
  FROM TUMBLE(road, ts, INTERVAL '30' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW slow AS SELECT sensor, ts, speed FROM road WHERE speed < 30;
CREATE MATERIALIZED VIEW pairs AS SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later
  FROM LAST_ROWS(road, 7) AS a JOIN SLIDING(road, ts, INTERVAL '20' SECOND) AS b ON a.segment = b.segment
  WHERE a.speed < b.speed;
"""


def lay_out(folder: Path, batches: int = BATCHES) -> Path:
    """A project with a script and its data, around midnight; some readings are out of order, and some late."""
    (folder / "road").mkdir(parents=True)
    (folder / "script.sql").write_text(SCRIPT)
    for batch in range(batches):
        lines = ["sensor,ts,segment,speed"]
        for row in range(ROWS):
            second = 86_400 - 240 + batch * ROWS + row + (3 if row % 4 == 0 else 0) - (30 if row == 33 else 0)
            day, rest = divmod(second, 86_400)
            time = f"2026-01-{day + 1:02d} {rest // 3600:02d}:{rest // 60 % 60:02d}:{rest % 60:02d}"
            lines.append(f"s{row % 5},{time},{row % 3},{(row * 13 + batch * 5) % 90}")
        (folder / "road" / f"{batch:03d}.csv").write_text("\n".join([*lines, ""]))
    return folder


def open_project(folder: Path) -> Database:
    database = Database(Catalog.of_project(folder), folder)
    database.execute((folder / "script.sql").read_text())
    return database


def record(folder: Path, runtime: str = "fjord", *, checkpoint: bool = False, **watching) -> Outcome:
    """Run the script of a project and keep what is accepted."""
    kept = folder / "kept" if checkpoint else None
    settings = Settings(runtime, "local[2]", kept, step_rows=ROWS, history=True)
    return open_project(folder).run(FileSink(folder / "out", "csv"), settings, **watching)


def history(folder: Path) -> Counter[tuple]:
    """All readings of the stream in history, by the files that a listing has."""
    pattern = str(folder / "history" / "road" / "*" / "*.parquet")
    return Counter(duckdb.sql(f"SELECT sensor, ts, segment, speed FROM read_parquet('{pattern}')").fetchall())


def answers(out: Path) -> dict[str, bytes]:
    """The lines of each output, in order, whatever files they are in."""
    found: dict[str, bytes] = {}
    for part in sorted(out.rglob("part-*.csv")):
        header, _, rows = part.read_bytes().partition(b"\n")
        name = str(part.parent.relative_to(out))
        found[name] = found.get(name, header + b"\n") + rows
    return found
