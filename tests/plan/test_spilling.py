from dataclasses import replace

import pytest

from skerry.build.cut import cut_view
from skerry.build.explain import explain
from skerry.errors import InputError
from skerry.model.batch import join
from skerry.model.expression import Expression
from skerry.model.time import END_OF_TIME
from skerry.plan.join import Join
from skerry.plan.overload import Shedding, Spilling
from skerry.plan.project import Project
from skerry.plan.side import Side
from skerry.plan.view import ViewPlan
from skerry.testing.laws import rows_of
from tests.build.test_cut import batch
from tests.plan.test_nodes import SCAN, SCHEMA

SIDES = tuple(Side(name, SCHEMA, ("segment",), "ts", 1_000_000) for name in "ab")
PLAIN = Join((SCAN, SCAN), SIDES)


def stages(node):
    return cut_view(ViewPlan("v", node))


def test_counted_rows_do_not_spill():
    sides = (SIDES[0], replace(SIDES[1], span_us=None, last_rows=3))
    with pytest.raises(InputError, match="LAST_ROWS keeps its rows in memory"):
        replace(PLAIN, sides=sides, overload=Spilling("s", 1))


def test_plan_that_spills_gives_what_one_that_does_not_gives(tmp_path):
    found = []
    for node in (PLAIN, replace(PLAIN, overload=Spilling(str(tmp_path), 1))):
        operator = stages(node).build_operate()
        parts = [operator.transition(batch(20.0, 30.0), 0), operator.transition(batch(40.0), 1)]
        found.append(rows_of(join([*parts, operator.advance(END_OF_TIME)], operator.schema)))
    assert found[0] == found[1]
    assert found[0].total() == 2


def test_operators_of_one_view_spill_to_folders_of_their_own(tmp_path):
    view = stages(replace(PLAIN, overload=Spilling(str(tmp_path / "deep"), 1)))
    operators = [view.build_operate() for _ in range(3)]
    for operator in operators:
        operator.transition(batch(20.0, 30.0), 0)
    names = [folder.name for folder in (tmp_path / "deep").iterdir()]
    assert len(names) == 3
    assert all(name.startswith("v-") for name in names)
    for operator in operators:
        operator.advance(END_OF_TIME)
    assert not list((tmp_path / "deep").iterdir())


def test_no_window_is_laid_over_answers_that_wait_on_disk():
    spilling = replace(PLAIN, overload=Spilling("s", 1))
    side = replace(SIDES[0], schema=spilling.schema, keys=("a.segment",), time="a.ts")
    with pytest.raises(InputError, match="wait on disk"):
        stages(Join((spilling, SCAN), (side, SIDES[1])))
    assert stages(Join((PLAIN, SCAN), (side, SIDES[1]))).below


def test_plan_says_where_it_spills():
    columns = Project(SCAN, tuple((field.name, Expression.of(field.name, field.type)) for field in SCHEMA))
    told = explain(ViewPlan("v", replace(PLAIN, relations=(columns, columns), overload=Spilling("s", 5))))
    assert ", up to 5 readings a bucket in memory and the others in s" in told


def test_plan_says_what_it_sheds():
    columns = Project(SCAN, tuple((field.name, Expression.of(field.name, field.type)) for field in SCHEMA))
    shedding = Shedding("pattern", 5, 2_000_000, "gone")
    told = explain(ViewPlan("v", replace(PLAIN, relations=(columns, columns), overload=shedding)))
    assert ", up to 5 readings a window, lag up to 2s, the others shed by pattern, losses told in gone" in told
    assert "operate: in one bucket, since all readings share a budget" in told
