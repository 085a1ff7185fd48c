from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from skerry.catalog import Subscription
from skerry.database import Database, Settings, connect
from skerry.errors import InputError, RunError, SqlError, UnknownFunction
from skerry.pipeline.outcome import Outcome
from skerry.sinks.memory import MemorySink

SCRIPT = """CREATE SOURCE air (ts TIMESTAMP, t DOUBLE, h DOUBLE, WATERMARK FOR ts AS ts)
    WITH (connector='file', path='air.csv');
    CREATE MATERIALIZED VIEW points AS SELECT t, dew_point(t, h) AS d FROM air;
    CREATE MATERIALIZED VIEW humid AS SELECT t FROM air WHERE dew_point(t, h) > 15;
    CREATE MATERIALIZED VIEW means AS SELECT AVG(dew_point(t, h)) AS mean FROM TUMBLE(air, ts, INTERVAL '10' SECOND)
    GROUP BY window_start HAVING dew_point(MAX(t), MAX(h)) > 5;
    CREATE MATERIALIZED VIEW pairs AS SELECT x.t, y.t AS other FROM SLIDING(air, ts, INTERVAL '2' SECOND) AS x
    JOIN SLIDING(air, ts, INTERVAL '2' SECOND) AS y ON x.ts = y.ts AND dew_point(x.t, x.h) >= dew_point(y.t, y.h)"""
READINGS = [(second, float(second), 50.0 + second) for second in range(30)]
DOUBLES = ["DOUBLE", "DOUBLE"]


def make_dew_point(unlucky: float = -1.0) -> Callable[..., Any]:
    """Lawrence's rule of thumb, for temperatures that bring no bad luck."""

    def dew_point(t: Any, h: Any) -> Any:
        if unlucky in t.to_pylist():
            raise ValueError(f"{unlucky} is unlucky")
        return pc.subtract(t, pc.divide(pc.subtract(100.0, h), 5.0))

    return dew_point


def compute_dew_point(t: float, h: float) -> float:
    return t - (100.0 - h) / 5.0


def opened(folder: Path, call: Callable[..., Any] | None = None, script: str = SCRIPT) -> Database:
    lines = [f"2026-01-01 00:00:{second:02d},{t},{h}" for second, t, h in READINGS]
    (folder / "air.csv").write_text("\n".join(["ts,t,h", *lines, "2026-01-01 00:00:30,,50"]) + "\n")
    database = connect(folder)
    database.create_function("dew_point", call or make_dew_point(), DOUBLES, "DOUBLE")
    database.execute(script)
    return database


def run(database: Database, settings: Settings | None = None) -> tuple[Outcome, MemorySink]:
    sink = MemorySink()
    outcome = database.run(sink, settings or Settings("fjord"))
    database.catalog.close()
    return outcome, sink


def check_answers(sink: MemorySink) -> None:
    dew_points = [compute_dew_point(t, h) for _, t, h in READINGS]
    assert sink.table("points")["d"].to_pylist() == [*dew_points, None]
    assert sink.table("humid")["t"].to_pylist() == [
        t for (_, t, _), point in zip(READINGS, dew_points, strict=True) if point > 15
    ]
    assert sorted(sink.table("means")["mean"].to_pylist()) == [
        pytest.approx(sum(dew_points[start : start + 10]) / 10) for start in (10, 20)
    ]
    assert sorted(sink.table("pairs")["t"].to_pylist()) == [t for _, t, _ in READINGS]


def test_function_stands_where_an_expression_may(tmp_path):
    outcome, sink = run(opened(tmp_path))
    check_answers(sink)
    assert outcome.failed_rows == {}


@pytest.mark.spark
def test_function_reaches_sparks_workers_and_its_failures_come_back(tmp_path):
    script = SCRIPT.replace("FROM air;", "FROM air WHERE t IS NULL OR t <> 13;", 1)
    outcome, sink = run(opened(tmp_path, make_dew_point(13.0), script), Settings("spark", "local[2]"))
    points = dict(zip(*sink.table("points").to_pydict().values(), strict=True))
    assert points == {**{t: compute_dew_point(t, h) for _, t, h in READINGS if t != 13}, None: None}
    assert outcome.first_errors == {"dew_point": "ValueError: 13.0 is unlucky"}
    assert outcome.failed_rows["dew_point"] > 0


def test_rows_that_a_function_fails_on_have_null_and_are_counted(tmp_path, caplog):
    outcome, sink = run(opened(tmp_path, make_dew_point(13.0), SCRIPT.partition("CREATE MATERIALIZED VIEW humid")[0]))
    found = dict(zip(*sink.table("points").to_pydict().values(), strict=True))
    assert found == {**{t: compute_dew_point(t, h) for _, t, h in READINGS}, 13.0: None, None: None}
    assert outcome.failed_rows == {"dew_point": 1}
    assert outcome.first_errors == {"dew_point": "ValueError: 13.0 is unlucky"}
    assert caplog.messages == [
        "function 'dew_point' fails and gives NULL instead (rows: 1); the first error: ValueError: 13.0 is unlucky"
    ]


def test_condition_that_fails_does_not_hold(tmp_path):
    script = SCRIPT.partition("CREATE MATERIALIZED VIEW points")[0]
    script += "CREATE MATERIALIZED VIEW humid AS SELECT t FROM air WHERE dew_point(t, h) > 10"
    _, sink = run(opened(tmp_path, make_dew_point(29.0), script))
    assert sink.table("humid")["t"].to_pylist() == [
        t for _, t, h in READINGS if compute_dew_point(t, h) > 10 and t != 29
    ]


@pytest.mark.parametrize("step_rows", [1, 7, 1000])
def test_failures_do_not_depend_on_batches(tmp_path, step_rows):
    database = opened(tmp_path, make_dew_point(13.0), SCRIPT.partition("CREATE MATERIALIZED VIEW humid")[0])
    outcome, sink = run(database, Settings("fjord", step_rows=step_rows))
    assert outcome.failed_rows == {"dew_point": 1}
    assert sink.table("points")["d"].null_count == 2


@pytest.mark.parametrize(
    ("call", "fault"),
    [
        (lambda t, h: pc.cast(t, pa.string()), "an array of VARCHAR, and DOUBLE was declared"),
        (lambda t, h: pa.nulls(len(t)), "an array of null, and DOUBLE was declared"),
        (lambda t, h: pa.array([1.0] * (len(t) + 1)), "values for"),
        (lambda t, h: [1.0] * len(t), "a list, which is no Arrow array"),
    ],
)
def test_function_that_breaks_its_word_ends_the_run(tmp_path, call, fault):
    database = opened(tmp_path, call, SCRIPT.partition("CREATE MATERIALIZED VIEW humid")[0])
    with pytest.raises(RunError, match=f"function 'dew_point' gave .*{fault}"):
        run(database)
    database.catalog.close()


def test_subscription_may_call_a_function(tmp_path):
    database = opened(tmp_path, script=SCRIPT.partition("CREATE MATERIALIZED VIEW points")[0])
    database.subscribe([Subscription("q", "air", "dew_point(t, h) > 15")])
    _, sink = run(database)
    assert sink.table("subscriptions").num_rows == sum(compute_dew_point(t, h) > 15 for _, t, h in READINGS)


def test_function_is_queried():
    database = connect()
    database.create_function("twice", lambda a: pc.multiply(a, 2), ["INT"], "INT")
    database.register("numbers", pa.table({"n": pa.array([1, 2], pa.int32())}))
    assert database.sql("SELECT twice(n) AS m FROM numbers").to_arrow().to_pylist() == [{"m": 2}, {"m": 4}]


def test_function_may_be_replaced_with_another_type():
    database = connect()
    database.register("numbers", pa.table({"n": [1, 2]}))
    database.execute("CREATE SOURCE s (n BIGINT) WITH (connector='file', path='s.csv')")
    for result, type_ in (("BIGINT", pa.int64()), ("VARCHAR", pa.string())):
        database.create_function("shown", lambda n, type_=type_: pc.cast(n, type_), ["BIGINT"], result)
        database.execute("CREATE OR REPLACE MATERIALIZED VIEW v AS SELECT shown(n) AS x FROM s")
        assert database.plans()[0].root.schema.field("x").type == type_
        assert database.sql("SELECT shown(n) AS x FROM numbers").to_arrow().schema.field("x").type == type_


def test_project_whose_program_has_no_such_function_says_so(tmp_path):
    opened(tmp_path).catalog.close()
    database = connect(tmp_path)
    with pytest.raises(UnknownFunction, match="unknown function 'due_point'; did you mean dew_point"):
        database.execute("CREATE MATERIALIZED VIEW v AS SELECT due_point(t, h) AS d FROM air")
    with pytest.raises(UnknownFunction, match="unknown function 'xyzzy'; one of your own is made with create_function"):
        database.execute("CREATE MATERIALIZED VIEW v AS SELECT xyzzy(t) AS d FROM air")
    with pytest.raises(SqlError, match=r"no function matches the given name and argument types 'dew_point\(DOUBLE\)'"):
        database.execute("CREATE MATERIALIZED VIEW v AS SELECT dew_point(t) AS d FROM air")
    database.catalog.close()


@pytest.mark.parametrize(
    ("name", "call", "parameters", "result", "message"),
    [
        ("upper", len, ["VARCHAR"], "VARCHAR", "SQL has something of that name"),
        ("sum", len, ["DOUBLE"], "DOUBLE", "SQL has something of that name"),
        ("select", len, ["DOUBLE"], "DOUBLE", "SQL has something of that name"),
        ("random", len, ["DOUBLE"], "DOUBLE", "SQL has something of that name"),
        ("Dew Point", len, ["DOUBLE"], "DOUBLE", "write small letters, digits and _"),
        ("f", len, ["FLOT"], "DOUBLE", "function 'f' has type 'FLOT'; write one of SQL's"),
        ("f", len, ["DOUBLE"], None, "function 'f' has type None"),
        ("f", len, [], "DOUBLE", "needs the types of its arguments"),
        ("f", len, "DOUBLE", "DOUBLE", "needs the types of its arguments"),
        ("f", 7, ["DOUBLE"], "DOUBLE", "function 'f' must be callable, got int"),
    ],
)
def test_what_cannot_be_a_function_is_refused(name, call, parameters, result, message):
    with pytest.raises(InputError, match=message):
        connect().create_function(name, call, parameters, result)
