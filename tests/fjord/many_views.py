"""A small run with few views, or with views of every kind that keeps state, to be broken off and gone on with."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from skerry.catalog import Catalog
from skerry.database import Database, Settings
from skerry.pipeline.outcome import Outcome
from skerry.sinks.files import FileSink

STEPS, ROWS = 12, 50

_PAIR = """SELECT a.sensor AS one, b.sensor AS other, a.ts, b.ts AS later
  FROM SLIDING(road, ts, INTERVAL '9' SECOND) AS a JOIN SLIDING(road, ts, INTERVAL '4' SECOND) AS b
  ON a.segment = b.segment AND a.flow = b.flow WHERE a.sensor <> b.sensor"""
_INPUT = """
CREATE SOURCE road (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, flow INT,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND) WITH (connector='file', path='road/*.csv');
CREATE TABLE names (segment INT, name VARCHAR) WITH (connector='file', path='names.csv');
INSERT INTO subscriptions (id, stream, predicate) VALUES ('slow', 'road', 'speed < 30');
"""
FEW_VIEWS = f"""{_INPUT}
CREATE MATERIALIZED VIEW named AS SELECT r.ts, n.name, r.speed FROM road AS r JOIN names AS n ON n.segment = r.segment;
CREATE MATERIALIZED VIEW mean WITH (late_to='too_late') AS SELECT segment, window_start, AVG(speed) AS speed,
  COUNT(DISTINCT sensor) AS sensors
  FROM HOP(road, ts, INTERVAL '4' SECOND, INTERVAL '12' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW by_snjoin AS {_PAIR};
CREATE MATERIALIZED VIEW mean_too AS SELECT AVG(r.speed) AS v FROM TUMBLE(road, ts, INTERVAL '8' SECOND) AS r
  GROUP BY r.segment, window_start;
CREATE MATERIALIZED VIEW most AS SELECT segment, MAX(speed) AS v
  FROM HOP(road, ts, INTERVAL '5' SECOND, INTERVAL '20' SECOND) GROUP BY segment, window_start;
CREATE MATERIALIZED VIEW change_too AS SELECT r.ts AS t, r.speed - LAG(r.speed) OVER w AS c FROM road AS r
  WINDOW w AS (PARTITION BY r.sensor ORDER BY r.ts);
CREATE MATERIALIZED VIEW change_again AS SELECT r.speed - LAG(r.speed) OVER w AS c, r.ts AS t FROM road AS r
  WINDOW w AS (PARTITION BY r.sensor ORDER BY r.ts);
CREATE MATERIALIZED VIEW running WITH (emit='changes') AS
  SELECT segment, COUNT(*) AS n, AVG(speed) AS v FROM road GROUP BY segment;
CREATE MATERIALIZED VIEW change AS SELECT sensor, ts, speed - LAG(speed) OVER w AS change, SUM(speed) OVER w AS total,
  AVG(speed) OVER (PARTITION BY sensor ORDER BY ts RANGE BETWEEN INTERVAL '5' SECOND PRECEDING AND CURRENT ROW) AS mean
  FROM road WINDOW w AS (PARTITION BY sensor ORDER BY ts);
"""
MANY_VIEWS = f"""{FEW_VIEWS}
CREATE MATERIALIZED VIEW slow AS SELECT sensor, ts, speed FROM road WHERE speed < 40;
CREATE MATERIALIZED VIEW calmest AS
  SELECT window_start, MAX(speed) AS speed FROM TUMBLE(mean, window_start, INTERVAL '20' SECOND) GROUP BY window_start;
CREATE MATERIALIZED VIEW next AS
  SELECT sensor, ts, LEAD(flow, 2) OVER (PARTITION BY sensor ORDER BY ts) AS flow FROM road WHERE segment > 0;
CREATE MATERIALIZED VIEW fastest AS SELECT window_start, sensor, speed FROM TUMBLE(road, ts, INTERVAL '10' SECOND)
  QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start ORDER BY speed DESC) <= 3 ORDER BY speed DESC LIMIT 2;
CREATE MATERIALIZED VIEW trend AS
  SELECT segment, window_start, speed - LAG(speed) OVER (PARTITION BY segment ORDER BY window_start) AS trend FROM mean;
CREATE MATERIALIZED VIEW spread WITH (emit='changes') AS
  SELECT n, COUNT(*) AS segments, MAX(v) AS v, MEDIAN(segment) AS mid FROM running GROUP BY n;
CREATE MATERIALIZED VIEW leading WITH (emit='changes') AS
  SELECT segment, v FROM running ORDER BY v DESC, segment LIMIT 2;
CREATE MATERIALIZED VIEW growing WITH (emit='changes') AS SELECT segment, window_start, window_end, COUNT(*) AS n
  FROM SESSION_WINDOW(road, ts, INTERVAL '2' SECOND) GROUP BY segment, window_start, window_end;
CREATE MATERIALIZED VIEW perhaps_now WITH (emit='changes') AS SELECT a.sensor, a.ts, b.speed
  FROM SLIDING(road, ts, INTERVAL '2' SECOND) AS a LEFT JOIN SLIDING(road, ts, INTERVAL '9' SECOND) AS b
  ON a.segment = b.segment AND b.flow = a.flow + 1;
CREATE MATERIALIZED VIEW since AS SELECT sensor, COUNT(*) AS n FROM LANDMARK(road, ts, '2026-01-01') GROUP BY sensor;
CREATE MATERIALIZED VIEW trips AS SELECT segment, flow, window_start, window_end, COUNT(*) AS n
  FROM SESSION_WINDOW(road, ts, INTERVAL '2' SECOND) GROUP BY segment, flow, window_start, window_end;
CREATE MATERIALIZED VIEW by_mjoin WITH (join='mjoin') AS {_PAIR};
CREATE MATERIALIZED VIEW by_amjoin WITH (join='amjoin') AS {_PAIR};
CREATE MATERIALIZED VIEW spilled WITH (spill_to='spilled', memory_rows='20') AS {_PAIR};
CREATE MATERIALIZED VIEW bounded WITH (on_overload='shed', memory_rows='30', loss_to='bounded_loss') AS {_PAIR};
CREATE MATERIALIZED VIEW adapted WITH (on_overload='shed', shed_policy='adaptive', memory_rows='30') AS {_PAIR};
CREATE MATERIALIZED VIEW last AS SELECT a.sensor, a.ts, c.speed FROM SLIDING(road, ts, INTERVAL '3' SECOND) AS a
  JOIN LAST_ROWS(road, 7) AS c ON c.segment = a.segment AND c.flow = a.flow;
CREATE MATERIALIZED VIEW perhaps AS SELECT a.sensor, a.ts, b.speed FROM SLIDING(road, ts, INTERVAL '2' SECOND) AS a
  LEFT JOIN SLIDING(road, ts, INTERVAL '9' SECOND) AS b ON a.segment = b.segment AND b.flow = a.flow + 1;
CREATE MATERIALIZED VIEW alone AS SELECT a.sensor, a.ts FROM SLIDING(road, ts, INTERVAL '3' SECOND) AS a
  WHERE NOT EXISTS (SELECT 1 FROM SLIDING(road, ts, INTERVAL '5' SECOND) AS b
  WHERE b.segment = a.segment AND b.flow = a.flow + 1);
CREATE MATERIALIZED VIEW together AS SELECT key, sensor, ts, arity, members
  FROM GATHER(road, key => flow, across => sensor, within => INTERVAL '2' SECOND, min_arity => 3) AS g;
CREATE MATERIALIZED VIEW many WITH (max_combinations='15') AS {_PAIR};
CREATE MATERIALIZED VIEW jams WITH (rules='jams.dl', output='stretch');
"""
_RULES = """
base road(segment: int, speed: float, ts: time) time ts window 8 s slide 4 s.
output stretch mode changes.
slow(a) :- road(a, v, _), v < 45.0.
jam(a, b) :- slow(a), slow(b), b = a + 1.
jam(a, c) :- jam(a, b), jam(b, c).
stretch(a, b, t) :- jam(a, b), road(a, v, t), v < 25.0.
"""


@dataclass
class Run:
    """A folder with input, a checkpoint and answers."""

    folder: Path
    script: str = FEW_VIEWS
    format: str = "csv"
    out: str = "out"
    rows: int = ROWS
    processes: int = 1

    @property
    def checkpoint(self) -> Path:
        return self.folder / f"{self.out}-checkpoint"

    def go(self, steps: int = 10_000, watch: Callable[[Outcome], None] = lambda total: None) -> Outcome:
        """Run until so many steps are done."""
        database = Database(Catalog.in_memory(), self.folder)
        database.execute(self.script)
        done = [0]

        def count(total: Outcome) -> None:
            watch(total)
            done.append(total.batches)

        settings = Settings("fjord", checkpoint=self.checkpoint, step_rows=self.rows, processes=self.processes)
        sink = FileSink(self.folder / self.out, self.format)
        return database.run(sink, settings, stopped=lambda: done[-1] >= steps, watch=count)

    def answers(self) -> dict[str, bytes]:
        """The files of all outputs."""
        out = self.folder / self.out
        return {str(part.relative_to(out)): part.read_bytes() for part in sorted(out.rglob("part-*"))}


def lay_out(folder: Path, seed: int = 0, script: str = FEW_VIEWS) -> Run:
    """Write the input: readings of eight sensors out of order, some of them late, one file per three steps."""
    (folder / "road").mkdir(parents=True)
    (folder / "names.csv").write_text("segment,name\n0,north\n1,south\n2,east\n")
    (folder / "jams.dl").write_text(_RULES)
    dice = random.Random(seed)
    for file in range(STEPS // 3):
        lines = [_reading(dice, file * 15 + row / 10) for row in range(3 * ROWS)]
        (folder / "road" / f"{file}.csv").write_text("\n".join(["sensor,ts,segment,speed,flow", *lines, ""]))
    return Run(folder, script)


def _reading(dice: random.Random, moment: float) -> str:
    second = max(0.0, moment - dice.choice([0, 0, 0, 0.5, 1, 1.5, 4]))
    speed = "fast" if dice.random() < 0.01 else f"{dice.uniform(5, 90):.2f}"
    stamp = f"2026-01-01 00:{int(second) // 60:02d}:{second % 60:06.3f}"
    return f"s{dice.randrange(8)},{stamp},{dice.randrange(4)},{speed},{dice.randrange(5)}"
