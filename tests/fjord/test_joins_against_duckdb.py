"""Joins of every kind over whole streams, as DuckDB says it. All views run in one pipeline."""

from collections import Counter
from functools import cache

import duckdb
import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.model.time import END_OF_TIME
from skerry.pipeline.pipeline import Pipeline
from skerry.pipeline.view_at_work import ViewAtWork
from skerry.testing.laws import apply_changes, rows_of
from skerry.testing.sources import GivenConnector
from tests.fjord.given import answered, arrived, batch, rows

SOURCE = """CREATE SOURCE {0} (ts TIMESTAMP, k INT, j INT, v DOUBLE,
    WATERMARK FOR ts AS ts - INTERVAL '5' MICROSECOND) WITH (connector='file', path='{0}.csv')"""
SPANS = {"a": 4, "b": 3, "c": 6}
READ = {name: f"SLIDING({name}, ts, INTERVAL '{span}' MICROSECOND) AS {name}" for name, span in SPANS.items()}
TUMBLE = {name: f"TUMBLE({name}, ts, INTERVAL '5' MICROSECOND) AS {name}" for name in SPANS}
COLUMNS = "a.ts AS at, a.v AS x, b.ts AS bt, b.v AS y"
THREE = f"{COLUMNS}, c.ts AS ct, c.v AS z"
START = "epoch_us({0}.ts) // 5"
"""Of a window; all times are after 1970."""


def near(one, other):
    """The windows of two streams, as a condition; one that is missing keeps nothing out."""
    within = f"epoch_us({other}.ts) BETWEEN epoch_us({one}.ts) - {SPANS[other]} AND epoch_us({one}.ts) + {SPANS[one]}"
    return f"({one}.ts IS NULL OR {other}.ts IS NULL OR {within})"


AB, AC, BC = near("a", "b"), near("a", "c"), near("b", "c")
SAME = f"{START.format('a')} = {START.format('b')}"
BETWEEN = "b.ts BETWEEN a.ts - INTERVAL '3' MICROSECOND AND a.ts + INTERVAL '2' MICROSECOND"
BEFORE = "b.ts <= a.ts AND a.ts - b.ts < '4 us'::INTERVAL AND b.ts + to_microseconds(6) > a.ts"
CHAIN = "c.ts >= b.ts AND c.ts <= b.ts + INTERVAL '3' MICROSECOND"
CASES = {
    "other_keys": (
        f"{THREE} FROM {READ['a']} JOIN {READ['b']} ON a.k = b.k JOIN {READ['c']} ON b.j = c.j",
        f"{THREE} FROM a JOIN b ON a.k = b.k AND {AB} JOIN c ON b.j = c.j AND {AC} AND {BC}",
    ),
    "theta": (
        f"{COLUMNS} FROM {READ['a']} JOIN {READ['b']} ON a.v > b.v",
        f"{COLUMNS} FROM a JOIN b ON a.v > b.v AND {AB}",
    ),
    "crossed": (
        f"{THREE} FROM {READ['a']} CROSS JOIN {READ['b']}, {READ['c']} WHERE a.v = c.v AND b.k < c.k",
        f"{THREE} FROM a, b, c WHERE a.v = c.v AND b.k < c.k AND {AB} AND {AC} AND {BC}",
    ),
    "right_kept": (
        f"k, {COLUMNS} FROM {READ['a']} RIGHT JOIN {READ['b']} USING (k) WHERE b.v > -3",
        f"k, {COLUMNS} FROM a RIGHT JOIN b ON a.k = b.k AND {AB} WHERE b.v > -3".replace("k, a", "b.k, a", 1),
    ),
    "both_kept": (
        f"k, {COLUMNS} FROM {READ['a']} FULL JOIN {READ['b']} USING (k) WHERE coalesce(a.v, 0) < 4",
        f"coalesce(a.k, b.k) AS k, {COLUMNS} FROM a FULL JOIN b ON a.k = b.k AND {AB} WHERE coalesce(a.v, 0) < 4",
    ),
    "p": ("ts AS at, k, v AS x FROM a",) * 2,
    "q": ("ts AS bt, k, v AS y FROM b",) * 2,
    "all_of_both_kept": (
        "* FROM SLIDING(p, at, INTERVAL '4' MICROSECOND) AS a FULL JOIN SLIDING(q, bt, INTERVAL '3' MICROSECOND) AS b "
        "USING (k)",
        f"a.ts, coalesce(a.k, b.k), a.v, b.ts, b.v FROM a FULL JOIN b ON a.k = b.k AND {AB}",
    ),
    "left_chain": (
        f"{THREE} FROM {READ['a']} LEFT JOIN {READ['b']} ON a.k = b.k AND b.v > a.v LEFT JOIN {READ['c']} ON c.k = a.k",
        f"{THREE} FROM a LEFT JOIN b ON a.k = b.k AND b.v > a.v AND {AB} LEFT JOIN c ON c.k = a.k AND {AC} AND {BC}",
    ),
    "left_chain_with_times": (
        f"{THREE} FROM {READ['c']} LEFT JOIN {READ['b']} ON b.k = c.k AND b.ts <= c.ts + INTERVAL '1' MICROSECOND "
        f"LEFT JOIN {READ['a']} ON a.v > c.v",
        f"{THREE} FROM c LEFT JOIN b ON b.k = c.k AND b.ts <= c.ts + INTERVAL '1' MICROSECOND AND {BC} LEFT JOIN a ON "
        f"a.v > c.v AND {AC} AND {AB}",
    ),
    "left_chain_after_a_contradiction": (
        f"{THREE} FROM a LEFT JOIN b ON b.ts BETWEEN a.ts AND a.ts - INTERVAL '2' MICROSECOND LEFT JOIN c ON c.ts "
        "BETWEEN a.ts - INTERVAL '4' MICROSECOND AND a.ts + INTERVAL '4' MICROSECOND",
    )
    * 2,
    "left_theta": (
        f"{COLUMNS} FROM {READ['a']} LEFT JOIN {READ['b']} ON a.v > b.v",
        f"{COLUMNS} FROM a LEFT JOIN b ON a.v > b.v AND {AB}",
    ),
    "full_then_inner": (
        f"{THREE} FROM {READ['a']} FULL JOIN {READ['b']} ON a.k = b.k JOIN {READ['c']} ON c.j = coalesce(a.j, b.j)",
        f"{THREE} FROM a FULL JOIN b ON a.k = b.k AND {AB} JOIN c ON c.j = coalesce(a.j, b.j) AND {AC} AND {BC}",
    ),
    "joined_then_right": (
        f"{THREE} FROM a JOIN b ON a.k = b.k AND {BETWEEN} RIGHT JOIN {READ['c']} ON c.k = a.k AND c.v > b.v AND c.ts "
        "BETWEEN a.ts AND a.ts + INTERVAL '5' MICROSECOND",
        f"{THREE} FROM a JOIN b ON a.k = b.k AND {BETWEEN} RIGHT JOIN c ON c.k = a.k AND c.v > b.v AND c.ts "
        "BETWEEN a.ts AND a.ts + INTERVAL '5' MICROSECOND AND epoch_us(b.ts) - epoch_us(c.ts) <= 6",
    ),
    "left_then_inner": (
        f"{THREE} FROM {READ['a']} LEFT JOIN {READ['b']} ON a.k = b.k JOIN {READ['c']} ON c.j = a.j AND c.v > 0 "
        "WHERE b.v IS NULL OR b.v < c.v",
        f"{THREE} FROM a LEFT JOIN b ON a.k = b.k AND {AB} JOIN c ON c.j = a.j AND c.v > 0 AND {AC} AND {BC} "
        "WHERE b.v IS NULL OR b.v < c.v",
    ),
    "inner_then_full": (
        f"{THREE} FROM {READ['a']} JOIN {READ['b']} ON a.k = b.k FULL JOIN {READ['c']} ON c.k = b.k",
        f"{THREE} FROM a JOIN b ON a.k = b.k AND {AB} FULL JOIN c ON c.k = b.k AND {AC} AND {BC}",
    ),
    "interval": (
        f"{COLUMNS} FROM a JOIN b ON a.k = b.k AND {BETWEEN}",
        f"{COLUMNS} FROM a JOIN b ON a.k = b.k AND {BETWEEN}",
    ),
    "interval_in_where": (f"{COLUMNS} FROM a, b WHERE a.k = b.k AND {BEFORE}",) * 2,
    "interval_kept": (f"{COLUMNS} FROM a LEFT JOIN b ON a.k = b.k AND {BETWEEN} AND b.v > 0",) * 2,
    "intervals_of_three": (f"{THREE} FROM a JOIN b ON a.k = b.k AND {BETWEEN} JOIN c ON c.k = a.k AND {CHAIN}",) * 2,
    "intervals_kept": (
        f"{THREE} FROM a LEFT JOIN b ON a.k = b.k AND {BETWEEN} LEFT JOIN c ON c.j = a.j AND c.ts BETWEEN a.ts - "
        "INTERVAL '1' MICROSECOND AND a.ts + INTERVAL '9' MICROSECOND",
    )
    * 2,
    "intervals_by_other_keys": (f"{THREE} FROM a JOIN b ON a.k = b.k AND {BETWEEN} JOIN c ON c.j = b.j AND {CHAIN}",)
    * 2,
    "tumbling": (
        f"{COLUMNS} FROM {TUMBLE['a']} JOIN {TUMBLE['b']} ON a.k = b.k AND a.window_start = b.window_start "
        "AND a.window_end = b.window_end",
        f"{COLUMNS} FROM a JOIN b ON a.k = b.k AND {SAME}",
    ),
    "tumbling_left": (
        f"{COLUMNS} FROM {TUMBLE['a']} LEFT JOIN {TUMBLE['b']} ON a.k = b.k",
        f"{COLUMNS} FROM a LEFT JOIN b ON a.k = b.k AND {SAME}",
    ),
    "tumbling_full": (
        f"{COLUMNS} FROM {TUMBLE['a']} FULL JOIN {TUMBLE['b']} ON a.window_start = b.window_start AND a.v > b.v",
        f"{COLUMNS} FROM a FULL JOIN b ON {SAME} AND a.v > b.v",
    ),
    "counted": (
        f"k, a.window_start AS s, COUNT(*) AS n, COUNT(b.v) AS m FROM {TUMBLE['a']} LEFT JOIN {TUMBLE['b']} USING (k) "
        "GROUP BY k, a.window_start",
        f"a.k, make_timestamp({START.format('a')} * 5) AS s, COUNT(*), COUNT(b.v) FROM a LEFT JOIN b ON a.k = b.k "
        f"AND {SAME} GROUP BY ALL",
    ),
    "counted_full": (
        f"window_start AS s, COUNT(*) AS n, COUNT(a.ts) AS m FROM {TUMBLE['a']} FULL JOIN {TUMBLE['b']} USING (k) "
        "GROUP BY window_start",
        f"make_timestamp(coalesce({START.format('a')}, {START.format('b')}) * 5) AS s, COUNT(*), COUNT(a.ts) FROM a "
        f"FULL JOIN b ON a.k = b.k AND {SAME} GROUP BY ALL",
    ),
}

ASOF = "(SELECT {{'t': b.ts, 'v': b.v}} FROM b WHERE b.k = a.k AND {} ORDER BY b.ts DESC, b.v DESC NULLS LAST LIMIT 1)"
HELD = f"(SELECT *, {ASOF.format('b.ts <= a.ts')} AS s FROM a) AS a"
LATEST = "a.ts AS at, a.v AS x, s.t, s.v FROM "
RECENT = f"{LATEST} {HELD.replace('b.ts <= a.ts', 'b.ts < a.ts AND epoch_us(a.ts) - epoch_us(b.ts) <= 4')}"
NOW = LATEST + HELD
NEXT = "c.ts BETWEEN a.ts AND a.ts + INTERVAL '3' MICROSECOND"
HOP = {name: f"HOP({name}, ts, INTERVAL '2' MICROSECOND, INTERVAL '4' MICROSECOND) AS {name}" for name in SPANS}
HOPPED = {
    name: f"(SELECT *, unnest([0, 2]) AS o, epoch_us(ts) // 2 * 2 - o AS s FROM {name}) AS {name}" for name in SPANS
}
CASES |= {
    "hopping": (
        f"a.window_start AS s, {COLUMNS} FROM {HOP['a']} JOIN {HOP['b']} ON a.k = b.k AND a.window_end = b.window_end",
        f"make_timestamp(a.s), {COLUMNS} FROM {HOPPED['a']} JOIN {HOPPED['b']} ON a.k = b.k AND a.s = b.s",
    ),
    "hopping_full": (
        f"window_end, {COLUMNS} FROM {HOP['a']} FULL JOIN {HOP['b']} ON a.v > b.v",
        f"make_timestamp(coalesce(a.s, b.s) + 4), {COLUMNS} FROM {HOPPED['a']} FULL JOIN {HOPPED['b']} ON a.s = b.s "
        "AND a.v > b.v",
    ),
    "hopping_counted": (
        f"a.k, window_start AS s, window_end, COUNT(*) AS n, SUM(b.v) AS y FROM {HOP['a']} LEFT JOIN {HOP['b']} ON "
        "a.k = b.k GROUP BY a.k, window_start, window_end",
        f"a.k, make_timestamp(a.s), make_timestamp(a.s + 4), COUNT(*), SUM(b.v) FROM {HOPPED['a']} LEFT JOIN "
        f"{HOPPED['b']} ON a.k = b.k AND a.s = b.s GROUP BY ALL",
    ),
    "hopping_left": (
        f"a.window_start AS s, {COLUMNS} FROM {HOP['a']} LEFT JOIN {READ['b']} ON a.k = b.k",
        f"make_timestamp(a.s), {COLUMNS} FROM {HOPPED['a']} LEFT JOIN b ON a.k = b.k AND epoch_us(b.ts) < a.s + 4 AND "
        "epoch_us(b.ts) >= epoch_us(a.ts) - 3",
    ),
    "asof": (f"{COLUMNS} FROM a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts", f"{NOW} WHERE s IS NOT NULL"),
    "asof_kept": (f"{COLUMNS} FROM a ASOF LEFT JOIN b USING (k, ts) WHERE a.v > -2", f"{NOW} WHERE a.v > -2"),
    "asof_recent": (
        f"{COLUMNS} FROM a ASOF LEFT JOIN SLIDING(b, ts, INTERVAL '4' MICROSECOND) AS b ON a.k = b.k AND b.ts < a.ts",
        RECENT,
    ),
    "asof_recent_in_on": (
        f"{COLUMNS} FROM a ASOF LEFT JOIN b ON a.k = b.k AND b.ts < a.ts AND a.ts - b.ts <= INTERVAL '4' MICROSECOND "
        "WHERE b.v IS NULL OR b.v > 0",
        f"{RECENT} WHERE s.v IS NULL OR s.v > 0",
    ),
    "asof_version": (
        f"{COLUMNS} FROM a LEFT JOIN b FOR SYSTEM_TIME AS OF a.ts ON a.k = b.k",
        NOW,
    ),
    "asof_counted": (
        f"a.window_start AS s, COUNT(*) AS n, MAX(b.v) AS most FROM {TUMBLE['a']} ASOF LEFT JOIN b ON a.k = b.k "
        "AND a.ts >= b.ts GROUP BY a.window_start",
        f"make_timestamp(epoch_us(a.ts) // 5 * 5), COUNT(*), MAX(s.v) FROM {HELD} GROUP BY 1",
    ),
    "asof_then_joined": (
        f"{THREE} FROM a ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts JOIN c ON c.j = a.j AND {NEXT}",
        f"a.ts, a.v, s.t, s.v, c.ts, c.v FROM {HELD} JOIN c ON c.j = a.j AND {NEXT} WHERE s IS NOT NULL",
    ),
    "joined_then_asof": (
        f"{THREE} FROM {READ['c']} JOIN {READ['a']} ON c.j = a.j ASOF JOIN b ON a.k = b.k AND a.ts >= b.ts",
        f"a.ts, a.v, s.t, s.v, c.ts, c.v FROM {HELD} JOIN c ON c.j = a.j AND {AC} WHERE s IS NOT NULL",
    ),
}

readings = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 5),
        st.sampled_from([0, 0, 1, None]),
        st.sampled_from([0, 1]),
        st.integers(-4, 4).map(float) | st.none(),
    ),
    max_size=9,
)


@cache
def planned():
    session = Session(Catalog.in_memory())
    views = [f"CREATE MATERIALIZED VIEW {name} AS SELECT {text}" for name, (text, _) in CASES.items()]
    session.execute(";".join([*map(SOURCE.format, SPANS), *views]))
    return session.catalog.sources(), tuple(map(cut_view, session.plans()))


@settings(max_examples=15)
@given(st.tuples(readings, readings, readings), st.integers(1, 20))
def test_answers_are_those_that_duckdb_finds(drawn, step_rows):
    sources, views = planned()
    batches = [
        batch([(ts + 20, *rest) for ts, *rest in arrived(each)], source.schema)
        for each, source in zip(drawn, sources, strict=True)
    ]
    connectors = tuple(GivenConnector(source, [[each]]) for source, each in zip(sources, batches, strict=True))
    outcome, sink = answered(Pipeline(connectors, views, step_rows))
    assert not outcome.failures
    connection = duckdb.connect()
    for source, each in zip(sources, batches, strict=True):
        connection.register(source.name, pa.Table.from_batches([each]))
    for name, (_, text) in CASES.items():
        assert (name, rows(sink.table(name))) == (name, rows(connection.sql(f"SELECT {text}").to_arrow_table()))


@settings(max_examples=4)
@given(st.tuples(readings, readings, readings))
def test_state_that_is_saved_and_restored_after_each_step_changes_nothing(drawn):
    sources, views = planned()
    streams = {
        source.name: batch([(ts + 20, *rest) for ts, *rest in arrived(each)], source.schema)
        for each, source in zip(drawn, sources, strict=True)
    }
    for view in (view for view in views if view.stateful):
        plain, restored = (_answer_stepwise(view, streams, restore=restore) for restore in (False, True))
        assert (view.name, plain) == (view.name, restored)


def _answer_stepwise(view, streams, *, restore):
    """The answers of a view, three readings of each stream at a time; its state through bytes after each step."""
    work, saved, found = ViewAtWork(view), {}, Counter()
    for first in range(0, 12, 3):
        for number, feed in enumerate(view.feeds):
            rows_of_step = streams[feed.source.name].slice(first, 3)
            found += rows_of(work.transition(feed.build_route().transition(rows_of_step), number))
            seen = streams[feed.source.name].slice(0, first + 3)["ts"].cast(pa.int64()).to_pylist()
            work.note_newest(feed.source.name, max(seen, default=0))
        found += rows_of(work.advance(work.watermark))
        if restore:
            apply_changes(work.operator.changes(), saved)
            newest, work = work.newest, ViewAtWork(view)
            work.restore(saved, newest, None)
    return found + rows_of(work.advance(END_OF_TIME))
