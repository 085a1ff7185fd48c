"""A small catalogue, and what becomes of statements and readings given to it."""

import pyarrow as pa
import pytest

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.errors import InputError
from skerry.lang.sql import Session
from skerry.model.time import END_OF_TIME
from skerry.plan.view import ViewPlan

TRAFFIC = (
    "CREATE SOURCE traffic (sensor VARCHAR, ts TIMESTAMP, segment INT, speed DOUBLE, flow BIGINT, "
    "WATERMARK FOR ts AS ts - INTERVAL '5' SECOND) WITH (connector='file', path='traffic.csv')"
)
TUMBLE = "TUMBLE(traffic, ts, INTERVAL '30' SECOND)"
HOP = "HOP(traffic, ts, INTERVAL '10' SECOND, INTERVAL '30' SECOND)"


def session(*scripts: str) -> Session:
    """A session in memory that knows the traffic, and what the scripts say."""
    made = Session(Catalog.in_memory())
    for script in (TRAFFIC, *scripts):
        made.execute(script)
    return made


def view(query: str) -> ViewPlan:
    """What a query means as a view."""
    return session(f"CREATE MATERIALIZED VIEW v AS {query}").plan("v")


def refused(script: str) -> str:
    """Why a script cannot be carried out."""
    with pytest.raises(InputError) as caught:
        session().execute(script)
    return str(caught.value)


def refused_view(query: str) -> str:
    """Why a query, which is on a line of its own, cannot be a view."""
    return refused(f"CREATE MATERIALIZED VIEW v AS\n{query}")


def answers(query: str, *readings: dict[str, object]) -> list[dict[str, object]]:
    """What a view gives for all readings at once; a ``ts`` is in seconds."""
    plan = view(query)
    stages = cut_view(plan)
    rows = [{"ts": 0, **reading} for reading in readings]
    given = [{**row, "ts": int(row["ts"] * 1_000_000)} for row in rows]
    routed = stages.feeds[0].build_route().transition(pa.RecordBatch.from_pylist(given, stages.feeds[0].source.schema))
    if not stages.stateful:
        return routed.to_pylist()
    operator = stages.build_operate()
    operator.transition(routed)
    return operator.advance(END_OF_TIME).to_pylist()
