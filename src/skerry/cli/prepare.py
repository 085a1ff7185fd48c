"""Doing at once what first starts do otherwise: compile all kernels, and archive the classes that Spark loads."""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from skerry.database import Settings, connect
from skerry.errors import RunError
from skerry.model.atomic_write import replace_atomically
from skerry.pipeline.precompile import list_kinds, precompile_beside
from skerry.sinks.files import FileSink

__all__ = ["archive_classes", "prepare"]

_PATIENCE_SECONDS = 1800.0
_READINGS = "ts,sensor,x\n2026-05-01 08:00:00,1,1.5\n2026-05-01 08:02:00,2,0.5\n"
_SCRIPT = """
CREATE SOURCE readings (ts TIMESTAMP, sensor INT, x DOUBLE, WATERMARK FOR ts AS ts)
WITH (connector='file', path='{folder}/readings.csv');
CREATE MATERIALIZED VIEW high AS SELECT ts, x FROM readings WHERE x > 1;
CREATE MATERIALIZED VIEW means AS
SELECT sensor, window_start, AVG(x) AS x FROM TUMBLE(readings, ts, INTERVAL '1' MINUTE) GROUP BY sensor, window_start;
"""


def prepare(note: Callable[[str], None]) -> None:
    """Fill the cache, so that the first start of this user is as fast as any."""
    with precompile_beside(list_kinds(), note):
        note("archiving the classes that Spark loads")
        archive_classes()


def archive_classes() -> None:
    """Let a Spark start and end whose Java leaves its classes behind, unless one did so before."""
    from skerry.spark.class_archive import find_class_archive
    from skerry.spark.java import find_java
    from skerry.spark.spark_home import use_compiled_home

    use_compiled_home()
    archive = find_class_archive(find_java())
    if archive.exists():
        return
    with replace_atomically(archive) as beside:
        # Java holds the output of the process that has started it, and so is waited for too.
        run = subprocess.run(
            [sys.executable, "-m", __name__, str(beside)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PATIENCE_SECONDS,
            check=False,
        )
        if run.returncode or not beside.exists():
            said = run.stderr.decode(errors="replace").strip()[-500:]
            raise RunError(f"Java left no archive of Spark's classes behind; {said or 'it said nothing'}")


def _run_on_spark(archive: Path) -> None:
    """Run a small script on a Spark whose Java leaves its classes behind when it ends."""
    from skerry.spark.session import session

    session("local[*]", rows_in_jvm=False, write_classes_to=archive)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "readings.csv").write_text(_READINGS)
        database = connect()
        database.execute(_SCRIPT.format(folder=folder))
        database.run(FileSink(Path(folder) / "out", "csv"), Settings())


if __name__ == "__main__":
    _run_on_spark(Path(sys.argv[1]))
