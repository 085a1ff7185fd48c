"""Components with stages, settled tuple by tuple in one kernel."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.deduce.engine import tuple_maintenance as tuple_module
from skerry.errors import RuleLimit
from tests.deduce.test_engine import TREE, engine_of, tick

SQUARES = """
base a(x: int).
derived p(x: int, d: int) stage d limit d <= 500.
p(x, 0) :- a(x).
p(x * x, d + 1) :- p(x, d), NOT a(x * x).
"""

nodes = st.integers(0, 7)
edges = st.tuples(nodes, nodes).filter(lambda edge: edge[0] != edge[1])


def tree(graph):
    """The edges of all shortest paths from node 0, with their distances: breadth first."""
    distances, reached = {0: 0}, [0]
    for node in reached:
        for first, second in sorted(graph):
            if first == node and second not in distances:
                distances[second] = distances[node] + 1
                reached.append(second)
    ahead = {edge for edge in graph if edge[0] in distances and distances[edge[1]] == distances[edge[0]] + 1}
    return {(0, 0, 0)} | {(first, second, distances[second]) for first, second in ahead}


def grid(side):
    ahead = {(node, node + 1) for node in range(side * side) if (node + 1) % side}
    down = {(node, node + side) for node in range(side * (side - 1))}
    return {pair for first, second in ahead | down for pair in ((first, second), (second, first))}


def copy_stages(v, d, condition):
    """The stages that a value goes through while a condition holds."""
    yield d
    if d < 3 and eval(condition, {"v": v, "d": d}):
        yield from copy_stages(v, d + 1, condition)


def endings(monkeypatch):
    """Why calls of the kernel end from now on."""
    seen, kernel = [], tuple_module.settle

    def settle(machine):
        seen.append(kernel(machine))
        return seen[-1]

    monkeypatch.setattr(tuple_module, "settle", settle)
    return seen


@settings(max_examples=40)
@given(changes=st.lists(st.sets(edges, max_size=12), max_size=5), looks=st.sampled_from([1, 3, 1 << 20]))
def test_a_tree_is_kept_as_if_computed_again_wherever_the_kernel_stops(changes, looks):
    engine, graph, before = engine_of(TREE), set(), set()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tuple_module, "_LOOKS", looks)
        for change in changes:
            changes = tick(engine, change - graph, change & graph, of="g")
            graph = graph ^ change
            after = tree(graph)
            assert engine.rows("h") == after
            assert engine.count("h") == len(after)
            if after != before:
                assert (set(changes["h"].inserted), set(changes["h"].deleted)) == (after - before, before - after)
            before = after


def test_what_the_kernel_lacks_is_given(monkeypatch):
    seen, graph = endings(monkeypatch), grid(12)
    engine = engine_of(TREE)
    tick(engine, graph, of="g")
    assert engine.rows("h") == tree(graph)
    for _ in range(2):
        tick(engine, [(0, 77)], of="g")
        assert engine.rows("h") == tree(graph | {(0, 77)})
        tick(engine, deletes=[(0, 77)], of="g")
        assert engine.rows("h") == tree(graph)
    assert {each.name for each in seen} == {"DONE", "HEAP", "ROWS"}


def test_names_stay_names_and_constants_are_found(monkeypatch):
    seen = endings(monkeypatch)
    engine = engine_of(
        "base seen(who: string, t: int). "
        "derived last(who: string, t: int) stage t. "
        "last(w, t) :- seen(w, t), w != 'nobody', NOT gone(w, t). "
        "gone(w, t + 1) :- last(w, t), seen('all', t)."
    )
    tick(engine, [("ann", 1), ("bob", 2), ("nobody", 1), ("ann", 2), ("all", 1)], of="seen")
    assert engine.rows("last") == {("ann", 1), ("bob", 2), ("all", 1)}
    tick(engine, deletes=[("all", 1)], of="seen")
    assert engine.rows("last") == {("ann", 1), ("bob", 2), ("ann", 2)}
    assert seen


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({}, r"rule 2: 1853020188851841 \* 1853020188851841 does not fit into 64 bits"),
        ({"stages": 3}, "'p' goes through more than 3 stages"),
        ({"tuples": 4}, "'p' has more than 4 tuples"),
    ],
)
def test_a_limit_takes_everything_back(limits, message, monkeypatch):
    seen = endings(monkeypatch)
    engine = engine_of(SQUARES, **limits)
    tick(engine, [(1,), (0,)], of="a")
    before = engine.rows("a"), engine.rows("p")
    with pytest.raises(RuleLimit, match=message):
        tick(engine, [(3,)], of="a")
    assert (engine.rows("a"), engine.rows("p")) == before
    assert seen


def test_the_clock_is_looked_at_now_and_then(monkeypatch):
    monkeypatch.setattr(tuple_module, "_LOOKS", 1)
    engine = engine_of(TREE, seconds=0.0)
    with pytest.raises(RuleLimit, match="takes more than 0 seconds"):
        tick(engine, grid(3), of="g")
    assert engine.rows("h") == engine.rows("g") == set()


COPIES = "base b(v: any, t: int). derived k(v: any, d: int) stage d. k(v, t) :- b(v, t). k(v, d + 1) :- k(v, d), d < 3."


def test_a_list_beyond_its_limit_is_seen_too():
    engine = engine_of(COPIES, list_length=2)
    tick(engine, [((1, 2), 2), ("text", 3)], of="b")
    assert engine.rows("k") == {((1, 2), 2), ((1, 2), 3), ("text", 3)}
    with pytest.raises(RuleLimit, match="a list longer than 2 in 'k'"):
        tick(engine, [((1, 2, 3), 1)], of="b")
    assert engine.count("k") == 3


@pytest.mark.parametrize(
    ("condition", "written"),
    [
        ("v + 1 > d", True),
        ("v * v - d != 7", True),
        ("v = 3", True),
        ("v // 2 > d", False),
        ("v > 0.5", False),
    ],
)
def test_conditions_on_whole_numbers_are_left_to_the_kernel(condition, written, monkeypatch):
    seen = endings(monkeypatch)
    engine = engine_of(COPIES.replace("any", "int").replace("d < 3", f"d < 3, {condition}"))
    tick(engine, [(3, 0), (1, 1), (-4, 2)], of="b")
    python = condition.replace(" = ", " == ")
    expected = {(v, d) for v, first in ((3, 0), (1, 1), (-4, 2)) for d in copy_stages(v, first, python)}
    assert engine.rows("k") == expected
    assert bool(seen) == written
