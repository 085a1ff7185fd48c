"""Scripts over fields: random readings of motes in files, and views over them."""

from collections import Counter
from pathlib import Path

from skerry import MemorySink
from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.network.views.runtime import PlacedView, choose_placements
from skerry.pipeline.runtime import RunOptions

Reading = tuple[int, int, int, int]
"""Mote, second, key, value."""

VIEWS = {
    "mean": "SELECT window_start, AVG(v) AS v, COUNT(*) AS n FROM TUMBLE(a, ts, INTERVAL '4' SECOND)"
    " GROUP BY window_start",
    "by_key": "SELECT k, window_start, SUM(v) AS v, MIN(v) AS low"
    " FROM HOP(a, ts, INTERVAL '2' SECOND, INTERVAL '4' SECOND) WHERE v > 1 GROUP BY k, window_start",
    "pairs": "SELECT x.mote AS one, y.mote AS other, x.v AS v, y.v AS w FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.k = y.k WHERE x.v > 1",
    "triples": "SELECT x.mote AS one, y.mote AS other, z.v AS v FROM SLIDING(a, ts, INTERVAL '3' SECOND) AS x"
    " JOIN SLIDING(b, ts, INTERVAL '5' SECOND) AS y ON x.k = y.k"
    " JOIN SLIDING(a, ts, INTERVAL '2' SECOND) AS z ON z.k = x.k",
    "absent": "SELECT x.mote, x.k FROM a AS x WHERE NOT EXISTS"
    " (SELECT 1 FROM SLIDING(b, ts, INTERVAL '2' SECOND) AS y WHERE y.k = x.k)",
    "chosen": "SELECT mote, v FROM a WHERE v > 2",
    "recent": "SELECT x.mote AS one, y.mote AS other FROM LAST_ROWS(a, 3) AS x JOIN LAST_ROWS(b, 3) AS y ON x.k = y.k",
}


def write_field(
    folder: Path, topology: str, streams: dict[str, list[Reading]], view: str, place: str, more: str = ""
) -> str:
    """The files of some streams, and the script that reads them."""
    statements = []
    for name, readings in streams.items():
        lines = [f"{mote},1970-01-01 00:00:{second:02d},{key},{value}" for mote, second, key, value in readings]
        (folder / f"{name}.csv").write_text("\n".join(["mote,ts,k,v", *lines]) + "\n")
        statements.append(
            f"CREATE SOURCE {name} (mote INT, ts TIMESTAMP, k INT, v INT, WATERMARK FOR ts AS ts - INTERVAL '1' MINUTE)"
            f" WITH (connector='file', path='{name}.csv', topology='{topology}'{more})"
        )
    return ";\n".join([*statements, f"CREATE MATERIALIZED VIEW v WITH (place='{place}') AS {VIEWS[view]}"])


def answer(folder: Path, script: str, runtime: str, step_rows: int = 1_000_000) -> tuple[Counter[str], dict[str, int]]:
    """The rows of a view, in whatever order, and what was counted beside."""
    database, sink = Database(Catalog.in_memory(), folder), MemorySink()
    database.execute(script)
    outcome = database.run(sink, Settings(runtime, step_rows=step_rows))
    return Counter(map(repr, sink.table("v").to_pylist())), outcome.figures.get("v", {})


def survey(folder: Path, script: str) -> PlacedView:
    """What a view's placements cost."""
    database = Database(Catalog.in_memory(), folder)
    database.execute(script)
    pipeline = database.pipeline(database.plans(), Settings("network"))
    return choose_placements(pipeline, RunOptions(catalog=database.catalog))["v"]
