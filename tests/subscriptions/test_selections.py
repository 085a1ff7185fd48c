from unittest.mock import patch

import pytest

from skerry.pipeline import pipeline as module
from skerry.testing.laws import rows_of
from tests.fjord.given import SLOW, answered, pipeline

PREDICATES = [
    "speed < 0",
    "segment BETWEEN 1 AND 2",
    "segment = 3 OR speed > 5",
    "speed IS NULL",
    "NOT speed > 0",
    "segment * 2 > speed",
    "TRUE",
    "speed <> speed",
    "segment IN (1, 5) AND r.speed >= -1",
]
VIEWS = [
    f"CREATE MATERIALIZED VIEW v{place} AS SELECT r.ts, speed + 1 AS more FROM road AS r WHERE {predicate}"
    for place, predicate in enumerate(PREDICATES)
]
LANES = [
    [
        [(n, n % 4, (n % 7) - 2.5) for n in range(0, 40)],
        [(50, None, 1.0), (51, 5, None), (52, 1, float("nan")), (53, None, None)],
    ]
]


def answers(*views):
    _, sink = answered(pipeline(LANES, 10, *views))
    return {output: [rows_of(batch) for batch in sink.table(output).to_batches()] for output in sink.outputs()}


def test_views_that_only_select_are_asked_together():
    found = pipeline(LANES, 10, *VIEWS)
    assert all(f"v{place}" in found.selections["road"] for place in range(len(VIEWS)))
    assert found.readers("road") == []


def test_few_views_are_asked_by_themselves():
    assert pipeline(LANES, 10, *VIEWS[:7]).selections == {}


def test_together_they_say_what_each_says_alone():
    with patch.object(module, "FEWEST_INDEXED", 1_000):
        expected = answers(*VIEWS, SLOW)
    assert answers(*VIEWS, SLOW) == expected


@pytest.mark.parametrize("view", ["SELECT COUNT(*) FROM TUMBLE(road, ts, INTERVAL '1' SECOND)", "SELECT ts FROM road"])
def test_other_views_are_not_in_the_index(view):
    found = pipeline(LANES, 10, *VIEWS, f"CREATE MATERIALIZED VIEW other AS {view}")
    assert [name for _, name in [(number, each.name) for number, each, _ in found.readers("road")]] == ["other"]
