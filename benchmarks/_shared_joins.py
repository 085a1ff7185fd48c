"""A thousand views over one join of three streams (W1): together, and some of them alone."""

import random
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa

from skerry.build.cut import CutView
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import END_OF_TIME
from skerry.plan.view import ViewPlan

Steps = Sequence[tuple[list[pa.RecordBatch], int]]

_SOURCE = """CREATE SOURCE s{0} (ts TIMESTAMP, sensor BIGINT, val BIGINT, WATERMARK FOR ts AS ts)
WITH (connector='file', path='s{0}.parquet')"""
_VIEW = """CREATE MATERIALIZED VIEW v{number} AS SELECT {columns}
FROM SLIDING(s0, ts, INTERVAL '{spans[0]}' SECOND) AS a
JOIN SLIDING(s1, ts, INTERVAL '{spans[1]}' SECOND) AS b ON a.val = b.val
JOIN SLIDING(s2, ts, INTERVAL '{spans[2]}' SECOND) AS c ON c.val = b.val WHERE {condition}"""
_COLUMNS = ("a.val, a.ts AS first, c.ts AS last", "b.val", "a.sensor + b.sensor AS both, c.ts", "a.ts, b.ts AS then")


def plans(count: int) -> list[ViewPlan]:
    """Views that differ in their windows, up to W1's, and in what they ask; each wants a fiftieth of the keys."""
    drawn, session = random.Random(7), Session(Catalog.in_memory())
    statements = [_SOURCE.format(stream) for stream in range(3)]
    for number in range(count):
        low = drawn.randrange(19_600)
        condition = f"a.val BETWEEN {low} AND {low + 400}" + (" AND c.ts > a.ts" if number % 10 == 0 else "")
        spans = [drawn.randint(5, 60) for _ in range(3)]
        columns = drawn.choice(_COLUMNS)
        statements.append(_VIEW.format(number=number, columns=columns, spans=spans, condition=condition))
    session.execute(";".join(statements))
    return session.plans()


def count_answers(views: Sequence[CutView], steps: Steps) -> Counter[str]:
    """How many answers each view has, all run step by step."""
    found: Counter[str] = Counter()
    for view in views:
        found += _count_answers(view, steps)
    return found


def _count_answers(view: CutView, steps: Steps) -> Counter[str]:
    found: Counter[str] = Counter()
    operator, routes = view.build_operate(), [feed.build_route() for feed in view.feeds]
    for batches, newest in [*steps, ([], END_OF_TIME)]:
        for stream, batch in enumerate(batches):
            operator.transition(routes[stream].transition(batch), stream)
        for output, rows in view.by_output(operator.advance(newest)):
            found[output] += rows.num_rows
    return found
