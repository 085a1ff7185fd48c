"""What a tick may take, by a clock and a memory that are given."""

import numpy as np
import pytest

from skerry.deduce import allowance as allowance_module
from skerry.deduce.allowance import Allowance
from skerry.deduce.engine import guard as guard_module
from skerry.deduce.engine.encoding import Encoding
from skerry.deduce.engine.guard import Guard
from skerry.deduce.engine.relation import Relation
from skerry.deduce.memory import find_available_bytes
from skerry.errors import RuleLimit
from skerry.plan.limits import UNLIMITED, Limits
from skerry.plan.program import Atom, Rule

RULE = Rule(Atom("p", ()), (), 1)


@pytest.fixture
def clock(monkeypatch):
    monkeypatch.setattr(guard_module.time, "monotonic", lambda: clock.now)
    clock.now = 1_000.0
    return clock


def watch(limits=None):
    """A guard whose tick has begun, and the relations that it watches."""
    relations = {"a": Relation("a", 1), "p": Relation("p", 1)}
    guard = Guard(Allowance.of(limits or Limits()), relations, Encoding(), base=["a"])
    guard.begin()
    return guard, relations


def put(relation, count, start=0):
    relation.insert(np.arange(start, start + count).reshape(-1, 1))


def test_a_tick_may_take_longer_while_it_derives(clock):
    guard, relations = watch()
    put(relations["p"], 20_000)
    clock.now += 31.9
    guard.check(RULE)
    clock.now += 0.2
    with pytest.raises(RuleLimit, match="rule 1: a tick takes more than 32 seconds, while 'p' is derived"):
        guard.check(RULE)


def test_facts_are_not_what_it_derives(clock):
    guard, relations = watch()
    put(relations["a"], 20_000)
    clock.now += 30.1
    with pytest.raises(RuleLimit, match="more than 30 seconds"):
        guard.check(RULE)


def test_tuples_of_earlier_ticks_give_no_time(clock):
    guard, relations = watch()
    put(relations["p"], 20_000)
    relations["p"].commit()
    guard.begin()
    clock.now += 30.1
    with pytest.raises(RuleLimit, match="more than 30 seconds"):
        guard.check(RULE)


def test_a_limit_that_was_set_does_not_grow(clock):
    guard, relations = watch(Limits(seconds=5))
    put(relations["p"], 1_000_000)
    clock.now += 5.1
    with pytest.raises(RuleLimit, match="more than 5 seconds"):
        guard.check(RULE)
    guard, _ = watch(Limits(seconds=UNLIMITED))
    clock.now += 1e9
    guard.check(RULE)


def test_who_watches_is_told_how_far_it_has_come(clock):
    guard, relations = watch()
    told = []
    guard.watch = lambda *progress: told.append(progress)
    put(relations["p"], 7)
    guard.check(RULE)
    guard.check(RULE)
    assert told == [("p", 7)]


def test_rows_and_values_fill_the_memory(clock, monkeypatch):
    monkeypatch.setattr(allowance_module, "find_available_bytes", lambda: 4 * 41 * 1_000)
    guard, relations = watch()
    put(relations["p"], 1_000)
    guard.check(RULE)
    put(relations["p"], 1, 1_000)
    clock.now += 1
    with pytest.raises(RuleLimit, match="1,001 tuples of 'p' and what else"):
        guard.check(RULE)


MACHINE = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 8000 kB\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({}, 8_000 << 10),
        ({"proc/self/cgroup": "0::/x\n", "sys/fs/cgroup/x/memory.max": "max\n"}, 8_000 << 10),
        (
            {
                "proc/self/cgroup": "0::/x/y\n",
                "sys/fs/cgroup/x/memory.max": "5000000\n",
                "sys/fs/cgroup/x/memory.current": "2000000\n",
                "sys/fs/cgroup/x/memory.stat": "anon 7\ninactive_file 500000\n",
            },
            3_500_000,
        ),
        (
            {
                "proc/self/cgroup": "2:cpu:/\n4:memory:/far/away\n",
                "sys/fs/cgroup/memory/memory.limit_in_bytes": "3000000\n",
                "sys/fs/cgroup/memory/memory.usage_in_bytes": "1000000\n",
            },
            2_000_000,
        ),
    ],
    ids=["machine", "group without limit", "outer group", "first version, in a container"],
)
def test_available_memory_is_the_least_of_machine_and_groups(tmp_path, files, expected):
    for name, text in {**MACHINE, **files}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert find_available_bytes(tmp_path) == expected
