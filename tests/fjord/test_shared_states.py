"""Views that make different rows and columns of one state say what each says by itself."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.build.cut import cut_view
from skerry.pipeline.pipeline import Pipeline
from skerry.plan.sharing import share
from tests.fjord.test_copies import answers, bound, cars, connectors, roads

PAIR = """SLIDING(road, ts, INTERVAL '9' SECOND) AS {a} JOIN SLIDING(cars, ts, INTERVAL '4' SECOND) AS {b}
    ON {a}.segment = {b}.segment"""
LAYERS = """TUMBLE((SELECT segment, window_start, MAX(speed) AS m FROM TUMBLE(road, ts, INTERVAL '4' SECOND)
    GROUP BY segment, window_start), window_start, INTERVAL '12' SECOND)"""
SETS = {
    "over": (
        "SELECT ts, LAG(speed) OVER (PARTITION BY segment ORDER BY ts) AS l FROM road",
        "SELECT ts AS t, r.speed - LAG(r.speed) OVER (PARTITION BY r.segment ORDER BY r.ts) AS d FROM road AS r",
        "SELECT ts, LAG(speed) OVER (PARTITION BY segment ORDER BY ts) AS l FROM road QUALIFY l > 1",
    ),
    "sessions": (
        "SELECT segment, COUNT(*) AS n FROM SESSION_WINDOW(road, ts, INTERVAL '2' SECOND) GROUP BY segment",
        """SELECT segment + 1 AS s, window_end FROM SESSION_WINDOW(road, ts, INTERVAL '2' SECOND)
            GROUP BY segment, window_end HAVING COUNT(*) > 1""",
    ),
    "join": (
        f"SELECT a.ts, b.plate FROM {PAIR.format(a='a', b='b')}",
        f"SELECT y.plate || '!' AS p, x.speed FROM {PAIR.format(a='x', b='y')} WHERE x.flow < y.segment",
    ),
    "layers": (
        f"SELECT AVG(m) AS mean FROM {LAYERS}",
        f"SELECT AVG(m) + 1 AS more, window_start AS since FROM {LAYERS} GROUP BY window_start HAVING AVG(m) > 2",
    ),
}


@pytest.mark.parametrize("name", SETS)
@settings(max_examples=10)
@given(roads, cars, st.integers(1, 9))
def test_views_of_one_state_say_what_each_says_alone(name, road, car, step_rows):
    views = bound(*SETS[name])
    shared = share(views)
    sources = connectors(views, {"road": road, "cars": car})
    assert len(shared) == 1
    found = answers(Pipeline(sources, tuple(map(cut_view, shared)), step_rows))
    assert found == answers(Pipeline(sources, tuple(map(cut_view, views)), step_rows))
