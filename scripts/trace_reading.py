"""Print the way of a reading through the code, from its source to the shuffle on Spark, and count the files.

A CSV file with a TUMBLE average over it runs on Spark in two batches. While a task reads the second one,
``sys.setprofile`` notes every function of Skerry that is called, in the order of the first call. By then the worker has
opened the pipeline and built its operators, so what is noted is the way of a reading and not the preparations. A file
counts once. Run it from the project's root:

    .venv/bin/python scripts/trace_reading.py
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import InputPartition

import skerry
from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.sinks.memory import MemorySink
from skerry.spark import source

SOURCES = str(Path(skerry.__file__).parent)
MOST_FILES = 34
SCRIPT = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector='file', path='road-*.csv');
CREATE MATERIALIZED VIEW mean AS SELECT segment, window_start, AVG(speed) AS speed
FROM TUMBLE(road, ts, INTERVAL '30' SECOND) WHERE segment IN (3, 4, 5) GROUP BY segment, window_start;
"""
READING = "sensor,ts,segment,speed\nn1,2026-06-01 0{hour}:00:00,3,60\n"


class TracedReader(source._Reader):
    """The reader of Skerry's data source, which notes what is called while a task reads."""

    trace = Path()

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Read as ever, and write the calls down; the last batch that has readings remains."""
        calls: dict[tuple[str, str], None] = {}

        def note(frame: FrameType, event: str, _: Any) -> None:
            if event == "call" and frame.f_code.co_filename.startswith(SOURCES):
                calls[frame.f_code.co_filename, frame.f_code.co_qualname] = None

        sys.setprofile(note)
        try:
            batches = list(super().read(partition))
        finally:
            sys.setprofile(None)
        if partition.splits:
            lines = [f"{Path(file).relative_to(SOURCES)} {name}" for file, name in calls]
            self.trace.write_text("\n".join(lines))
        yield from batches


def main() -> int:
    """Trace a reading; exit code 1 if it passes through more files than it may."""
    with tempfile.TemporaryDirectory() as folder:
        for hour in (1, 2):
            (Path(folder) / f"road-{hour}.csv").write_text(READING.format(hour=hour))
        TracedReader.trace = Path(folder) / "trace.txt"
        source._Reader = TracedReader  # type: ignore[misc]
        database = Database(Catalog.in_memory(), Path(folder))
        database.execute(SCRIPT)
        database.run(MemorySink(), Settings("spark", "local[1]", step_rows=1))
        calls = [line.split(maxsplit=1) for line in TracedReader.trace.read_text().splitlines()]
    files = list(dict.fromkeys(file for file, _ in calls))
    for number, file in enumerate(files, 1):
        print(f"{number:2} {file}: {', '.join(name for each, name in calls if each == file and '<' not in name)}")
    print(f"{len(files)} files, {MOST_FILES} at the most")
    return int(len(files) > MOST_FILES)


if __name__ == "__main__":
    sys.exit(main())
