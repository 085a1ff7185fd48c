import pickle

import pyarrow as pa
import pytest

from skerry.build.cut import cut_view
from skerry.build.explain import explain
from skerry.catalog import Catalog
from skerry.lang.sql import Session
from skerry.plan.fan_out import FanOut, SelectAny
from skerry.plan.sharing import FEWEST_INDEXED, share
from skerry.plan.sliced_aggregate import SlicedAggregate

SOURCES = """
CREATE SOURCE a (k INT, j INT, ts TIMESTAMP, v DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='a.csv');
CREATE SOURCE b (k INT, j INT, ts TIMESTAMP, v DOUBLE, WATERMARK FOR ts AS ts) WITH (connector='file', path='b.csv');
CREATE TABLE t (k INT, name VARCHAR) WITH (connector='file', path='t.csv');
"""
JOIN = """CREATE MATERIALIZED VIEW {name}{options} AS SELECT {selected}
FROM SLIDING(a, ts, INTERVAL '{size}' SECOND) AS a JOIN {other} AS b ON {keys}"""


def joined(name, size=1, options="", selected="a.v", keys="a.k = b.k", other="SLIDING(b, ts, INTERVAL '1' SECOND)"):
    return JOIN.format(name=name, size=size, options=options, selected=selected, keys=keys, other=other)


ALIKE = [joined(f"v{place}", place + 1) for place in range(FEWEST_INDEXED)]


def plans(*views):
    session = Session(Catalog.in_memory())
    session.execute(SOURCES + ";".join(views))
    return session.plans()


def test_many_views_of_one_join_are_one_plan_with_the_widest_windows():
    (plan,) = share(plans(*ALIKE))
    assert list(plan.root.outputs(plan.name)) == [f"v{place}" for place in range(FEWEST_INDEXED)]
    assert [side.span_us for side in plan.root.input.sides] == [FEWEST_INDEXED * 1_000_000, 1_000_000]


def test_few_views_have_a_join_each():
    found = plans(*ALIKE[1:])
    assert share(found) == found


def test_the_shared_join_carries_what_any_view_needs():
    (plan,) = share(plans(*ALIKE, joined("more", selected="b.j", keys="a.k = b.k WHERE a.j > 3")))
    assert [side.schema.names for side in plan.root.input.sides] == [["k", "j", "ts", "v"], ["k", "j", "ts"]]


def test_order_of_streams_and_of_keys_does_not_matter():
    turned = """CREATE MATERIALIZED VIEW turned{} AS SELECT x.v FROM SLIDING(b, ts, INTERVAL '1' SECOND) AS y
    JOIN SLIDING(a, ts, INTERVAL '1' SECOND) AS x ON {}"""
    both = [joined(f"v{place}", keys="a.k = b.k AND a.j = b.j") for place in range(FEWEST_INDEXED)]
    found = share(plans(*both, turned.format("", "y.j = x.j AND x.k = y.k")))
    assert [len(plan.root.outputs(plan.name)) for plan in found] == [FEWEST_INDEXED + 1]


@pytest.mark.parametrize(
    "other",
    [
        {"options": " WITH (late_to='behind')"},
        {"options": " WITH (join = 'mjoin')"},
        {"options": " WITH (max_combinations = '5')"},
        {"options": " WITH (spill_to = 'spilled', memory_rows = '100')"},
        {"options": " WITH (on_overload = 'shed', memory_rows = '100')"},
        {"other": "LAST_ROWS(b, 5)"},
        {"other": "SLIDING(a, ts, INTERVAL '1' SECOND)"},
        {"keys": "a.j = b.j"},
        {"keys": "a.k = b.k AND a.j = b.j"},
        {"keys": "a.k = b.k JOIN t ON t.k = a.k"},
    ],
)
def test_views_of_another_join_keep_it(other):
    found = share(plans(*ALIKE, joined("other", **other)))
    assert [plan.name for plan in found] == [f"v0 and {FEWEST_INDEXED - 1} more", "other"]


def test_readings_that_no_view_wants_stay_out_of_the_join():
    wanting = [joined(f"v{place}", keys=f"a.k = b.k WHERE a.v > {place + 5}") for place in range(FEWEST_INDEXED)]
    (plan,) = share(plans(*wanting))
    first, second = cut_view(plan).feeds
    assert [type(node) for node in (first.below[0], second.below[0])] == [SelectAny, type(plan.root.input.relations[1])]
    rows = [{"k": 1, "j": 1, "ts": 0, "v": v} for v in (5.0, 5.5, None, 99.0)]
    batch = pa.RecordBatch.from_pylist(rows, first.source.schema)
    assert first.build_route().transition(batch).column("v").to_pylist() == [5.5, 99.0]


def test_a_plan_of_many_views_is_small():
    (few,), (many,) = (share(plans(*(joined(f"v{n}", n + 1) for n in range(count)))) for count in (20, 40))
    each = (len(pickle.dumps(cut_view(many))) - len(pickle.dumps(cut_view(few)))) / 20
    assert each < 600


def test_explain_tells_of_sharing():
    found = plans(*ALIKE)
    (shared,) = share(found)
    assert isinstance(shared.root, FanOut)
    told = "one join over a SLIDING 8 SECOND, b SLIDING 1 SECOND for this and 7 other views"
    assert told in explain(found[2], shared)
    assert "one join" not in explain(found[2])


MEAN = """CREATE MATERIALIZED VIEW {name}{options} AS SELECT {selected} FROM {window}
WHERE {condition} GROUP BY {keys} HAVING {having}"""
TUMBLE = "TUMBLE(a, ts, INTERVAL '10' SECOND)"


def mean(name, condition="k = 1", options="", selected="AVG(v) AS v", window=TUMBLE, keys="k, j", having="TRUE"):
    return MEAN.format(
        name=name, condition=condition, options=options, selected=selected, window=window, keys=keys, having=having
    )


MEANS = [mean(f"v{place}", f"k = {place} AND j > {place}") for place in range(FEWEST_INDEXED)]


def test_many_averages_of_the_same_groups_are_one_plan_that_folds_once():
    (plan,) = share(plans(*MEANS))
    assert list(plan.root.outputs(plan.name)) == [f"v{place}" for place in range(FEWEST_INDEXED)]
    assert [fold.function for fold in plan.root.input.folds] == ["avg"]
    assert [type(node).__name__ for node in cut_view(plan).feeds[0].below] == ["Project"]


def test_two_averages_are_enough_to_share():
    (plan,) = share(plans(*MEANS[:2]))
    assert list(plan.root.outputs(plan.name)) == ["v0", "v1"]
    assert share(plans(MEANS[0])) == plans(MEANS[0])


def test_windows_of_several_sizes_are_made_of_slices():
    hop = "HOP(a, ts, INTERVAL '4' SECOND, INTERVAL '6' SECOND)"
    (plan,) = share(plans(*MEANS, mean("other", window=hop, selected="MAX(v) AS m")))
    node = plan.root.input
    assert isinstance(node, SlicedAggregate)
    assert node.slices.rhythms == ((4_000_000, 0), (4_000_000, 2_000_000), (10_000_000, 0))
    assert (node.describe_windows(), node.wanted) == (
        "HOP 4 SECOND of 6 SECOND, TUMBLE 10 SECOND",
        (("_fold0",), ("_fold1",)),
    )


def test_views_whose_folds_need_all_values_share_with_equal_windows_alone():
    medians = [
        mean(f"w{n}", selected="MEDIAN(v) AS v", window=TUMBLE.replace("10", str(10 + n // 2))) for n in range(4)
    ]
    assert [plan.name for plan in share(plans(*medians))] == ["w0 and 1 more", "w2 and 1 more"]


def test_a_network_folds_windows_of_one_size():
    found = plans(*MEANS, mean("other", window=TUMBLE.replace("10", "20")))
    assert [plan.name for plan in share(found, sliced=False)] == [f"v0 and {FEWEST_INDEXED - 1} more", "other"]
    assert share(found[:-2], sliced=False) == found[:-2]


def test_what_any_view_computes_is_folded_once():
    more = [mean(f"w{n}", selected=what) for n, what in enumerate(["MAX(j) AS m", "AVG(v) + MAX(j) AS x"])]
    (plan,) = share(plans(*MEANS, *more, mean("other", keys="j, k", having="SUM(v) > 3")))
    assert [(fold.function, fold.name) for fold in plan.root.input.folds] == [
        ("avg", "_fold0"),
        ("max", "_fold1"),
        ("sum", "_fold2"),
    ]


@pytest.mark.parametrize(
    "other",
    [
        {"options": " WITH (late_to='behind')"},
        {"window": "TUMBLE(b, ts, INTERVAL '10' SECOND)"},
        {"keys": "k"},
        {"keys": "k, j + 1"},
        {"condition": "k = 1 AND v > 3"},
        {"condition": "k = 1 OR v > 3"},
    ],
)
def test_views_of_other_groups_or_readings_keep_their_aggregate(other):
    found = share(plans(*MEANS, mean("other", **other)))
    assert [plan.name for plan in found] == [f"v0 and {FEWEST_INDEXED - 1} more", "other"]


def test_what_all_ask_of_readings_is_asked_before_they_are_folded():
    (plan,) = share(plans(*(mean(f"v{n}", f"v > 3 AND k = {n}") for n in range(FEWEST_INDEXED))))
    assert [type(node).__name__ for node in cut_view(plan).feeds[0].below] == ["Select", "Project"]


def test_keys_that_are_equal_and_not_the_same_are_asked_before_they_are_folded():
    found = plans(*(mean(f"v{n}", f"v = {n}", selected="COUNT(*) AS n", keys="v") for n in range(FEWEST_INDEXED)))
    assert share(found) == found


def test_explain_tells_of_a_shared_aggregate():
    found = plans(*MEANS)
    (shared,) = share(found)
    assert "one aggregate for this and 7 other views, told apart by the query index" in explain(found[2], shared)


def test_what_views_ask_of_sensors_does_not_keep_them_apart():
    asked = joined("more", options=" WITH (sample_period='1s', battery_lifetime='90 days')")
    (plan,) = share(plans(*ALIKE, asked))
    assert "more" in plan.root.outputs(plan.name)


def test_conditions_on_readings_may_be_put_in_other_words():
    found = plans(mean("v0", "v > 10 * 2 AND k = 1"), mean("v1", "k = 1 AND 20 < v", window=TUMBLE.replace("10", "20")))
    assert [plan.name for plan in share(found)] == ["v0 and 1 more"]
