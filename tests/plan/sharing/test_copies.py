"""Pairs of queries as text: of those that are equal one runs, and the other has a copy of its answers."""

from pathlib import Path

import pyarrow as pa
import pytest

from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.plan.sharing import Copy, find_copies

SOURCES = """
CREATE SOURCE road (ts TIMESTAMP, segment INT, lane VARCHAR, speed DOUBLE, flow INT, WATERMARK FOR ts AS ts)
  WITH (connector='file', path='road.csv');
CREATE SOURCE cars (ts TIMESTAMP, segment INT, plate VARCHAR, WATERMARK FOR ts AS ts)
  WITH (connector='file', path='cars.csv');
"""
LINES = Path(__file__).with_name("pairs.txt").read_text().splitlines()
PAIRS = [tuple(LINES[first : first + 3]) for first in range(0, len(LINES), 3)]


def plans(*views):
    session = Session(Catalog.in_memory())
    session.execute(SOURCES + ";".join(f"CREATE MATERIALIZED VIEW {view}" for view in views))
    return session.plans()


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: pair[0].removeprefix("-- "))
def test_queries_are_equal_if_they_mean_the_same(pair):
    verdict, one, other = pair
    running, copies = find_copies(plans(f"one AS {one}", f"other AS {other}"))
    assert [view.name for view in running] == (["one"] if verdict.startswith("-- equal") else ["one", "other"])
    assert [(copy.name, copy.of) for copy in copies] == ([("other", "one")] if len(running) == 1 else [])


def test_a_copy_has_names_and_an_order_of_its_own():
    copy = Copy("v", "w", (("b", "x"), ("a", "y")))
    assert copy.rename(pa.record_batch({"x": [1], "y": [2]})).to_pydict() == {"b": [1], "a": [2]}


@pytest.mark.parametrize("option", ["late_to='behind'", "max_combinations='7'"])
def test_views_with_options_of_their_own_run_by_themselves(option):
    join = "SELECT a.ts FROM SLIDING(road, ts, INTERVAL '1' SECOND) AS a JOIN cars AS b ON a.segment = b.segment"
    join = join.replace("JOIN cars", "JOIN SLIDING(cars, ts, INTERVAL '1' SECOND)")
    running, copies = find_copies(plans(f"one AS {join}", f"other WITH ({option}) AS {join}"))
    assert (len(running), copies) == (2, ())


def test_what_views_ask_of_sensors_does_not_make_them_different():
    query = "SELECT ts FROM road WHERE speed > 3"
    _, copies = find_copies(plans(f"one AS {query}", f"other WITH (sample_period='1s') AS {query}"))
    assert [copy.name for copy in copies] == ["other"]


def test_changes_are_no_copies_of_final_answers():
    query = "SELECT segment, MAX(speed) AS m FROM TUMBLE(road, ts, INTERVAL '10' SECOND) GROUP BY segment"
    changes = [f"{name} WITH (emit='changes') AS {query}" for name in ("one", "two")]
    running, copies = find_copies(plans(*changes, f"three AS {query}"))
    assert ([view.name for view in running], [copy.name for copy in copies]) == (["one", "three"], ["two"])
