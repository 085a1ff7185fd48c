from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skerry.deduce import allowance as allowance_module
from skerry.deduce.builtins import Builtins
from skerry.deduce.checks import check
from skerry.deduce.engine import Engine, arrow_type
from skerry.deduce.engine import encoding as encoding_module
from skerry.deduce.engine import plan as plan_module
from skerry.deduce.engine import plan_builder as builder_module
from skerry.deduce.values import row_key
from skerry.errors import InputError, RuleLimit, RunError
from skerry.lang.rules import read
from skerry.plan.program import Type
from skerry.testing.reference_rules import Reference
from tests.deduce.generator import program

CLOSURE = """
base edge(x: int, y: int).
derived path(x: int, y: int).
path(x, y) :- edge(x, y).
path(x, z) :- path(x, y), edge(y, z).
"""
DENSE = CLOSURE.replace("edge(y, z)", "path(y, z)")
TREE = """
base g(x: int, y: int).
derived h(x: int, y: int, d: int) stage d limit d <= 64.
h(0, 0, 0).
h(0, x, 1) :- g(0, x).
j(y, d) :- h(_, y, d).
h'(y, d + 1) :- j(y, d'), (d + 1) > d', j(x, d), g(x, y).
h(x, y, d + 1) :- g(x, y), j(x, d), NOT h'(y, d + 1).
"""


class Calls:
    def __init__(self, **functions):
        self.functions, self.batches = functions, []

    def call(self, name, rows):
        self.batches.append(list(rows))
        return [self.functions[name](*row) for row in rows]


def check_text(text, **limits):
    rules = read(text)
    return check(replace(rules, limits=replace(rules.limits, **limits)))


def engine_of(text, calls=None, unit=1, **limits):
    return Engine(check_text(text, **limits), calls or Builtins({}), unit)


def tick(engine, inserts=(), deletes=(), now=None, of="edge"):
    return engine.tick(now, {of: inserts}, {of: deletes})


edges = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=12)


@pytest.mark.parametrize(("text", "base"), [(CLOSURE, "edge"), (DENSE, "edge"), (TREE, "g")])
@settings(max_examples=25, deadline=None)
@given(changes=st.lists(st.tuples(edges, edges), min_size=1, max_size=5))
def test_recursion_is_kept_as_if_computed_again(text, base, changes):
    rules = check_text(text)
    engine, reference = Engine(rules, Builtins({})), Reference(rules, Builtins({}))
    for inserts, deletes in changes:
        for each in (engine, reference):
            each.tick(None, {base: inserts}, {base: deletes})
        assert {name: engine.rows(name) for name in rules.predicates} == {
            name: reference.rows(name) for name in rules.predicates
        }


def test_a_cycle_that_loses_its_root_is_gone():
    engine = engine_of("base root(x: int).\nbase edge(x: int, y: int).\nr(x) :- root(x).\nr(y) :- r(x), edge(x, y).")
    engine.tick(None, {"root": [(0,)], "edge": [(0, 1), (1, 2), (2, 1)]}, {})
    change = tick(engine, deletes=[(0, 1)])["r"]
    assert (sorted(change.deleted), list(change.inserted)) == ([(1,), (2,)], [])


def test_nobody_sees_what_is_suspended_and_revives():
    engine = engine_of(CLOSURE + "lonely(x) :- edge(x, _), NOT path(x, x).")
    tick(engine, [(0, 1), (1, 2), (2, 0), (0, 2)])
    assert tick(engine, deletes=[(0, 2)]).keys() == {"edge"}


def test_a_tick_that_reaches_a_limit_is_taken_back_and_is_the_last():
    engine = engine_of(CLOSURE, tuples=10)
    tick(engine, [(0, 1), (1, 2)])
    before = engine.rows("path")
    with pytest.raises(RuleLimit, match="E401 rule 2: 'path' has more than 10 tuples"):
        tick(engine, [(2, 3), (3, 4), (4, 5), (5, 6)], [(0, 1)])
    assert (engine.rows("path"), engine.rows("edge")) == (before, {(0, 1), (1, 2)})
    with pytest.raises(RunError, match="the program was stopped: E401"):
        tick(engine)


def give_memory(monkeypatch, available):
    monkeypatch.setattr(allowance_module, "find_available_bytes", lambda: available)


def test_a_product_stops_before_memory_is_full(monkeypatch):
    give_memory(monkeypatch, 1 << 26)
    engine = engine_of("base a(x: int).\nbase b(x: int).\np(x, y) :- a(x), b(y).")
    many = [(number,) for number in range(10_000)]
    with pytest.raises(RuleLimit, match=r"tuples of 'p' and what .* take more than the 0\.0 GiB .*limit tuples N\."):
        engine.tick(None, {"a": many, "b": many}, {})
    assert engine.count("p") == engine.count("a") == 0


def test_lists_count_as_memory(monkeypatch):
    give_memory(monkeypatch, 1 << 24)
    text = "base a(x: int).\nderived p(l: list) limit l <= 9.\np([x]) :- a(x).\np([l|x, y]) :- p([l|x]), a(y)."
    with pytest.raises(RuleLimit, match=r"E401 rule 2: .* tuples of 'p' and what else the program holds"):
        engine_of(text).tick(None, {"a": [(number,) for number in range(50)]}, {})


def test_who_sets_a_limit_of_tuples_is_not_held_by_memory(monkeypatch):
    give_memory(monkeypatch, 0)
    engine = engine_of(CLOSURE, tuples=10)
    tick(engine, [(0, 1), (1, 2)])
    assert engine.count("path") == 3


@pytest.mark.soak
def test_a_closure_beyond_a_million_is_kept_true():
    side = 48
    nodes = side * side
    edges = [(node, node + 1) for node in range(nodes) if (node + 1) % side]
    edges += [(node, node + side) for node in range(nodes - side)]
    engine, again = engine_of(CLOSURE), engine_of(CLOSURE)
    tick(engine, edges)
    assert engine.count("path") == (side * (side + 1) // 2) ** 2 - nodes
    gone = [(side - 2, side - 1), (nodes // 2, nodes // 2 + 1), (nodes - 2, nodes - 1)]
    tick(engine, deletes=gone)
    tick(again, [edge for edge in edges if edge not in gone])
    assert engine.rows("path") == again.rows("path")
    tick(engine, gone)
    assert engine.count("path") == (side * (side + 1) // 2) ** 2 - nodes


def test_a_tick_that_takes_too_long_names_its_rule():
    engine = engine_of(CLOSURE, seconds=0.0)
    with pytest.raises(RuleLimit, match="rule 1: a tick takes more than 0 seconds, while 'path' is derived"):
        tick(engine, [(0, 1)])


def test_numbers_beyond_64_bits_stop_the_program():
    engine = engine_of("base a(x: int).\np(y) :- a(x), y = x * x.")
    with pytest.raises(RuleLimit, match="rule 1: 4294967296 \\* 4294967296 does not fit into 64 bits"):
        engine.tick(None, {"a": [(2**32,)]}, {})


def test_too_many_contributions_stop_the_program(monkeypatch):
    give_memory(monkeypatch, 1 << 28)
    engine = engine_of("base a(x: int).\nbase b(x: int).\np(count<*>) :- a(x), b(y).")
    many = [(number,) for number in range(3_000)]
    with pytest.raises(RuleLimit, match=r"tuples of .* take more than the 0\.1 GiB"):
        engine.tick(None, {"a": many, "b": many}, {})


def test_lists_beyond_their_limit_stop_the_program():
    text = "base a(x: int).\nderived p(l: list) limit l <= 9.\np([x]) :- a(x).\np([l|x, x]) :- p([l|x])."
    engine = engine_of(text, list_length=4)
    with pytest.raises(RuleLimit, match=r"a list longer than 4 in 'p'; .*limit list_length N"):
        engine.tick(None, {"a": [(1,)]}, {})


def test_a_fact_in_both_is_there_afterwards():
    engine = engine_of(CLOSURE)
    tick(engine, [(0, 1)], [(0, 1)])
    assert engine.rows("path") == {(0, 1)}
    assert tick(engine, [(0, 1)], [(0, 1)]) == {}


def test_facts_leave_with_their_window():
    engine = engine_of("base a(x: int, t: time) time t window 5 s.\np(x) :- a(x, _).")
    engine.tick(10, {"a": [(1, 10), (2, 7), (3, 4)]}, {})
    assert engine.rows("p") == {(1,), (2,)}
    engine.tick(12, {"a": [(2, 12)]}, {"a": [(1, 10)]})
    assert engine.rows("p") == {(2,)}
    assert engine.tick(13, {}, {}).keys() == {"a"}
    assert engine.rows("a") == {(2, 12)}


def test_the_last_rows_stay():
    engine = engine_of("base a(x: int) window 3 rows.\np(x) :- a(x).")
    engine.tick(None, {"a": [(1,), (2,)]}, {})
    engine.tick(None, {"a": [(1,), (3,), (4,)]}, {})
    assert engine.rows("p") == {(2,), (3,), (4,)}
    engine.tick(None, {"a": [(5,), (6,)]}, {"a": [(3,)]})
    assert engine.rows("p") == {(4,), (5,), (6,)}


def test_built_ins_are_asked_once_a_value():
    calls = Calls(double=lambda x: 2 * x if x < 3 else None, odd=lambda x: x % 2 == 1)
    text = """
    base a(x: int, y: int).
    builtin function double(int): int = "m:double".
    builtin predicate odd(int) = "m:odd".
    p(x, double(x)) :- a(x, _), odd(x).
    q(x) :- a(x, _), NOT odd(x).
    """
    engine = engine_of(text, calls)
    engine.tick(None, {"a": [(1, 1), (1, 2), (1, 3), (2, 0), (3, 0)]}, {})
    assert (engine.rows("p"), engine.rows("q")) == ({(1, 2)}, {(2,)})
    assert all(len(batch) == len(set(batch)) for batch in calls.batches)


def test_aggregates_change_as_little_as_they_must():
    engine = engine_of("base a(k: string, v: float).\np(k, count<*>, sum<v>, max<v>) :- a(k, v).")
    engine.tick(None, {"a": [("x", 0.1), ("x", 0.2), ("y", 1.0)]}, {})
    change = engine.tick(None, {"a": [("x", 0.3)]}, {"a": [("y", 1.0)]})["p"]
    assert list(change.inserted) == [("x", 3, 0.6, 0.3)]
    assert sorted(change.deleted) == [("x", 2, 0.30000000000000004, 0.2), ("y", 1, 1.0, 1.0)]
    same = engine_of("base a(k: int, v: int).\np(k, max<v>) :- a(k, v).")
    same.tick(None, {"a": [(1, 5)]}, {})
    assert same.tick(None, {"a": [(1, 4)]}, {}).keys() == {"a"}


def test_kinds_of_numbers_meet_where_columns_allow_it():
    engine = engine_of("base a(x: int).\nbase b(x: float).\np(x) :- a(x), b(y), x = y.\nq(x) :- b(x), x >= 2.")
    engine.tick(None, {"a": [(1,), (2,)], "b": [(1.0,), (2.5,)]}, {})
    assert (engine.rows("p"), engine.rows("q")) == ({(1,)}, {(2.5,)})
    engine.tick(None, {}, {"b": [(1.0,)]})
    assert engine.rows("p") == set()


def test_values_that_nothing_holds_are_forgotten(monkeypatch):
    monkeypatch.setattr(encoding_module, "_FEWEST", 8)
    engine = engine_of("base a(k: string, t: time) time t window 5 s.\np(k) :- a(k, _).\nq('it') :- a(_, _).")
    changes = [engine.tick(now, {"a": [(f"name {now}", now)]}, {})["p"] for now in range(60)]
    assert engine.rows("p") == {(f"name {now}",) for now in range(54, 60)}
    assert engine.rows("q") == {("it",)}
    assert [list(change.inserted) for change in changes] == [[(f"name {now}",)] for now in range(60)]
    assert len(engine._encoding) < 30


def test_wrong_facts_are_refused_before_anything_is_done():
    engine = engine_of(CLOSURE)
    with pytest.raises(InputError, match="'edge' has 2 values, got 1"):
        tick(engine, [(1,)])
    with pytest.raises(InputError, match="'y' of 'edge' is of type int, got 'a'"):
        tick(engine, [(1, "a")])
    with pytest.raises(InputError, match="64 bits"):
        tick(engine, [(1, 2**63)])
    with pytest.raises(InputError, match="'path' takes no facts; base predicates: edge"):
        tick(engine, [(1, 2)], of="path")
    tick(engine, [(1, 2)])
    assert engine.rows("path") == {(1, 2)}


def test_batches_come_and_go_as_columns():
    base = "base a(k: string, v: float, ok: bool, at: point, t: time) time t window 5 s."
    text = f"{base}\np(k, v, ok, at, t) :- a(k, v, ok, at, t)."
    engine = engine_of(text, unit=1_000_000)
    schema = engine.schema("p")
    assert schema.types == [pa.string(), pa.float64(), pa.bool_(), pa.string(), pa.timestamp("us")]
    moment = pa.array([1_000_000, 1_000_000, 1_000_000], pa.timestamp("us"))
    columns = [["x", "y", None], [1.5, float("nan"), 2.0], [True, True, False], ["[1, 2]", "[1, 2]", "[0, 0]"], moment]
    batch = pa.RecordBatch.from_arrays([pa.array(each) for each in columns], schema=schema)
    inserted, deleted = engine.tick_batches(2_000_000, {"a": batch})["p"]
    assert (inserted.num_rows, deleted.num_rows) == (1, 0)
    assert inserted.drop_columns(["t"]).to_pylist() == [{"k": "x", "v": 1.5, "ok": True, "at": "[1.0, 2.0]"}]
    assert engine.batch("p").equals(inserted)
    assert engine.tick_batches(7_000_001, {})["p"][1].num_rows == 1
    assert engine.figures() == {"ticks": 2, "tuples": 4}


def test_only_watched_predicates_are_told():
    engine = Engine(check_text(CLOSURE), Builtins({}), watched=["path"])
    assert tick(engine, [(1, 2)]).keys() == {"path"}


def test_facts_from_the_start_of_time_do_not_overflow():
    engine = engine_of("base a(x: int, t: time) time t window 60 s.\np(x) :- a(x, _).", unit=1_000_000)
    start = -(2**62) + 1
    engine.tick(start, {"a": [(1, start)]}, {})
    assert engine.rows("p") == {(1,)}


@pytest.mark.parametrize("type_", Type)
def test_every_type_has_a_column(type_):
    assert isinstance(arrow_type(type_), pa.DataType)


def test_changes_are_decoded_when_somebody_looks():
    engine = engine_of(CLOSURE)
    change = tick(engine, [(1, 2), (2, 3)])["path"]
    assert (len(change.inserted), change.inserted[:0], np.asarray(change.inserted.codes).shape) == (3, [], (3, 2))
    tick(engine, deletes=[(1, 2)])
    assert sorted(change.inserted) == [(1, 2), (1, 3), (2, 3)]


values = st.integers(-3, 3) | st.sampled_from(["a", "b", "Z", ""]) | st.sampled_from([0.5, 1.0, -2.0]) | st.booleans()
kinds = st.sampled_from([st.integers(-3, 3), st.sampled_from(["a", "b", "Z", ""]), values])


@settings(max_examples=60, deadline=None)
@given(rows=kinds.flatmap(lambda kind: st.lists(st.tuples(kind, kind), max_size=8)))
def test_values_of_any_kind_are_compared_and_added_alike(rows):
    text = """
    base a(x: any, y: any).
    less(x, y) :- a(x, y), x < y.
    other(x, y) :- a(x, y), x != y.
    same(x, y) :- a(x, y), x = y.
    sum(z) :- a(x, y), z = x + y.
    part(z) :- a(x, y), z = x / y.
    """
    rules = check_text(text)
    engine, reference = Engine(rules, Builtins({})), Reference(rules, Builtins({}))
    for each in (engine, reference):
        each.tick(None, {"a": rows}, {})
    for name in rules.predicates:
        assert set(map(row_key, engine.rows(name))) == set(map(row_key, reference.rows(name))), name


def test_constants_of_rules_are_never_forgotten(monkeypatch):
    monkeypatch.setattr(encoding_module, "_FEWEST", 0)
    engine = engine_of("base a(x: int).\nbase b(k: string).\np('it') :- a(_).\nq(k) :- b(k), k != 'it'.")
    engine.tick(None, {"a": [(1,), (2,)]}, {})
    engine.tick(None, {}, {"a": [(1,), (2,)]})
    engine.tick(None, {"b": [("other",), ("it",)]}, {})
    engine.tick(None, {"a": [(1,), (2,)]}, {})
    engine.tick(None, {}, {"a": [(1,)]})
    assert (engine.rows("p"), engine.rows("q")) == ({("it",)}, {("other",)})


@pytest.mark.parametrize("seed", range(3_000, 3_030))
def test_small_pieces_give_the_same(seed, monkeypatch):
    monkeypatch.setattr(builder_module, "_PIECE", 3)
    monkeypatch.setattr(builder_module, "_SMALL_PIECE", 2)
    monkeypatch.setattr(plan_module, "_FEW", 1)
    generated = program(seed)
    engine, reference = Engine(generated.checked, Builtins({})), Reference(generated.checked, Builtins({}))
    for moment in generated.ticks:
        for each in (engine, reference):
            each.tick(moment.now, moment.inserts, moment.deletes)
        for name in generated.checked.predicates:
            assert set(map(row_key, engine.rows(name))) == set(map(row_key, reference.rows(name))), name


def test_points_are_taken_apart_and_put_together():
    engine = engine_of(
        "base q(x: point, n: int).\nderived r(x: point).\np(a, b) :- q([a, b], _).\nr([n, 2]) :- q(_, n)."
    )
    engine.tick(None, {"q": [((1, 2), 7), ((3.5, 4), 8)]}, {})
    assert (engine.rows("p"), engine.rows("r")) == ({(1.0, 2.0), (3.5, 4.0)}, {((7.0, 2.0),), ((8.0, 2.0),)})
    engine.tick(None, {"q": [((0, 0), 7)]}, {"q": [((1, 2), 7)]})
    assert (engine.rows("p"), engine.rows("r")) == ({(0.0, 0.0), (3.5, 4.0)}, {((7.0, 2.0),), ((8.0, 2.0),)})


def test_a_derivation_of_an_equal_number_is_not_one_of_this_number():
    engine = engine_of("base a(x: any).\np(z) :- a(x), z = x * 1.")
    engine.tick(None, {"a": [(2,), (2.0,)]}, {})
    change = engine.tick(None, {}, {"a": [(2,)]})["p"]
    assert ([*map(row_key, change.deleted)], len(change.inserted)) == ([(2,)], 0)
