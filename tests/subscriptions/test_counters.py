import pyarrow as pa
import pytest
import sqlglot
from hypothesis import given, settings
from hypothesis import strategies as st

import skerry
from skerry.catalog import Catalog, Source, Subscription
from skerry.catalog.counters import SUBSCRIPTION, VIEW
from skerry.database import Settings
from skerry.index.query_index import QueryIndex
from skerry.index.region_from_predicate import region_of
from skerry.model.duckdb_session import open_duckdb
from skerry.model.types import TIMESTAMP
from skerry.sinks.memory import MemorySink
from skerry.subscriptions.counters import Counted, Counters, add_counts

SCHEMA = pa.schema({"ts": TIMESTAMP, "speed": pa.float64(), "lane": pa.int32()})
ROAD = Source("road", SCHEMA, "file", event_time="ts")
PREDICATES = ["speed < 3", "lane = 1 OR lane = 2", "speed > lane", "lane < 2 OR speed = 1", "lane * 2 > 3", "FALSE"]

readings = st.lists(
    st.tuples(st.integers(-9, 9), st.none() | st.sampled_from([0.0, 1.0, 5.0]), st.none() | st.integers(0, 3)),
    max_size=12,
)


def batch_of(rows):
    columns = list(zip(*rows, strict=True)) or [()] * 3
    return pa.record_batch([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA)


def indexed(*predicates):
    index = QueryIndex(SCHEMA, open_duckdb)
    for text in predicates:
        index.add(text, region_of(sqlglot.parse_one(text), SCHEMA, open_duckdb))
    return index


def asked(batch):
    """How often each predicate is true, and when last, by DuckDB."""
    connection = open_duckdb()
    connection.register("batch", pa.Table.from_batches([batch]))
    found = {
        text: connection.sql(f"SELECT count(*), max(epoch_us(ts)) FROM batch WHERE {text}").fetchall()[0]
        for text in PREDICATES
    }
    return {text: told for text, told in found.items() if told[0]}


@settings(max_examples=25)
@given(st.lists(readings, max_size=3))
def test_counts_are_those_of_all_readings(batches):
    last_batch, found = Counted(indexed(*PREDICATES), SUBSCRIPTION, ROAD), []
    for rows in batches:
        matches, _ = last_batch.match(batch_of(rows))
        assert matches.tolist() == indexed(*PREDICATES).match(batch_of(rows)).rows.tolist()
        found.append(last_batch.counts)
    told = {row["id"]: (row["matches"], row["last_us"]) for row in add_counts(found).to_pylist() if row["matches"]}
    assert told == asked(batch_of([row for rows in batches for row in rows]))


def test_work_is_due_to_the_queries_whose_readings_made_it():
    last_batch = Counted(indexed("lane = 1", "lane = 3", "lane = 2", "FALSE"), SUBSCRIPTION, ROAD)
    last_batch.match(batch_of([(0, 9.0, 1)] * 50 + [(0, 9.0, 3)]))
    cost = {row["id"]: row["cost_ns"] for row in last_batch.counts.to_pylist()}
    assert cost["lane = 1"] == pytest.approx(50 * cost["lane = 3"], abs=50)
    assert cost.keys() == {"lane = 1", "lane = 3"}


def test_readings_for_which_a_residual_was_asked_in_vain_cost_too():
    last_batch = Counted(indexed("lane * 2 > 3"), SUBSCRIPTION, ROAD)
    last_batch.match(batch_of([(0, 9.0, 1)]))
    (row,) = last_batch.counts.to_pylist()
    assert (row["matches"], row["last_us"]) == (0, None)
    assert row["cost_ns"] > 0


def counts(matches, last_us=0, id_="q"):
    row = {
        "kind": SUBSCRIPTION,
        "id": id_,
        "stream": "road",
        "matches": matches,
        "last_us": last_us,
        "cost_ns": matches,
    }
    return add_counts(
        [pa.RecordBatch.from_pylist([row], Counted(indexed(*PREDICATES), SUBSCRIPTION, ROAD).counts.schema)]
    )


@pytest.fixture
def place(tmp_path):
    """Where counts are kept, and the catalogue they go to."""
    catalog = Catalog.of_project(tmp_path)
    with catalog.all_or_nothing():
        catalog.subscriptions.add([Subscription("q", "road", "speed < 3")])
    return tmp_path / "counts", catalog.url


def told(place):
    catalog = Catalog(place[1])
    return {each.id: (each.matches, each.last_us) for each in catalog.counters.all()}


def test_batch_that_runs_again_counts_once(place):
    counters = Counters(*place, "run")
    for batch in (0, 0, 1, 1):
        counters.note(batch, counts(batch + 2, last_us=9 - batch))
        counters.write()
    assert told(place) == {"q": (5, 9)}


@pytest.mark.parametrize("written", [0, 1, 2, 3])
def test_run_that_goes_on_counts_each_batch_once(place, written):
    """It broke off after some batches were in the catalogue and others were not, and the last one runs again."""
    before = Counters(*place, "run")
    before._next_write = float("inf")
    for batch in range(3):
        before.note(batch, counts(10**batch))
        if batch + 1 == written:
            before.write()
    after = Counters(*place, "run")
    after.note(2, counts(100))
    after.note(3, counts(1_000))
    after.write()
    assert told(place) == {"q": (1_111, 0)}


def test_files_that_a_broken_run_left_behind_are_not_counted_again(place):
    counters = Counters(*place, "run")
    counters._next_write = float("inf")
    counters.note(0, counts(1))
    (left,) = place[0].glob("*.counts")
    content = left.read_bytes()
    counters.write()
    left.write_bytes(content)
    Counters(*place, "run").write()
    assert told(place) == {"q": (1, 0)}
    assert not list(place[0].glob("*.counts"))


def test_counts_wait_while_somebody_else_writes(place):
    counters, other = Counters(*place, "run"), Catalog(place[1])
    counters._next_write = float("inf")
    counters.note(0, counts(1))
    with other.all_or_nothing():
        other.subscriptions.add([Subscription("q2", "road", "speed < 3")])
        counters.write()
        assert told(place) == {}
    counters.write()
    assert told(place) == {"q": (1, 0)}


def test_runs_add_up_and_a_subscription_that_comes_again_begins_anew(place):
    for run in ("one", "other"):
        Counters(*place, run).note(0, counts(2))
    assert told(place) == {"q": (4, 0)}
    catalog = Catalog(place[1])
    with catalog.all_or_nothing():
        catalog.subscriptions.remove(["q"])
        catalog.subscriptions.add([Subscription("q", "road", "speed < 4")])
    assert told(place) == {}


def test_nothing_is_counted_of_a_subscription_that_is_gone(place):
    catalog = Catalog(place[1])
    with catalog.all_or_nothing():
        catalog.subscriptions.remove(["q"])
    Counters(*place, "run").note(0, counts(2))
    assert told(place) == {}


CSV = "ts,speed\n2026-01-01 00:00:01,20\n2026-01-01 00:00:03,\n2026-01-01 00:00:02,25\n2026-01-01 00:00:04,50\n"
SOURCE = """CREATE SOURCE road (ts TIMESTAMP, speed DOUBLE, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
WITH (connector='file', path='r.csv')"""


def test_run_of_a_project_counts_subscriptions_and_indexed_views(tmp_path):
    (tmp_path / "r.csv").write_text(CSV)
    database = skerry.connect(tmp_path)
    views = [f"CREATE MATERIALIZED VIEW v{n} AS SELECT ts FROM road WHERE speed < {n * 10}" for n in range(9)]
    database.execute(";".join([SOURCE, *views]))
    database.subscribe([Subscription("slow", "road", "speed < 30"), Subscription("never", "road", "speed > 99")])
    database.run(MemorySink(), Settings("fjord", step_rows=1))
    found = {(each.kind, each.id): each for each in skerry.connect(tmp_path).catalog.counters.all()}
    assert {key: each.matches for key, each in found.items()} == {
        (SUBSCRIPTION, "slow"): 2,
        **{(VIEW, f"v{n}"): sum(speed < n * 10 for speed in (20, 25, 50)) for n in range(3, 9)},
    }
    assert found[SUBSCRIPTION, "slow"].last_us == 1_767_225_602_000_000
    assert sum(each.cost_share for each in found.values()) == pytest.approx(2)
