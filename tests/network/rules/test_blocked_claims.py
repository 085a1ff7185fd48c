"""A claim that a tuple known at its join's mote blocks is not sent, until that tuple goes."""

from random import Random

import pytest

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.lang.rules import read
from skerry.network.message import Kind
from skerry.network.network import Network
from skerry.network.rules.blocked_claims import BlockedClaims
from skerry.network.rules.claims import LAST, Claim, Stop
from skerry.network.rules.install import TECHNIQUES
from skerry.network.rules.memory import Memory
from skerry.network.rules.run import ORDERS, simulate
from skerry.network.topology.grid import make_grid
from skerry.network.topology.read_topology import read_topology
from skerry.plan.program import MICROSECONDS

FREE = """base g(n: node, m: node) link within 3 hops.
base q(n: node, v: int) host n.
base r(n: node, v: int) host n.
derived p(n: node, m: node) host m.
p(a, b) :- q(a, x), g(a, b), NOT r(b, x).
"""
LEAST = FREE.replace("NOT r(b, x)", "NOT s(b, x)") + "s(b, x) :- r(b, y), y < x, q(a, x), g(a, b). output p."


def run(text, ticks, topology, strategy="perpendicular", order="stage"):
    facts = Facts(ticks, MICROSECONDS)
    return simulate(check(read(text)), facts, topology, strategy=strategy, order=order, seed=1)


def draw_ticks(random, motes):
    """Facts that block and are blocked come first, then some of them go, in turn."""
    there = {name: [(mote, random.randrange(3)) for mote in range(motes) if random.random() < 0.7] for name in "qr"}
    ticks, now = [Tick(0, {name: list(rows) for name, rows in there.items()})], 0
    for name in random.choices("rrq", k=4):
        now += random.choice((30_000, 2_000_000))
        gone = random.sample(there[name], len(there[name]) // 2)
        there[name] = [row for row in there[name] if row not in gone]
        ticks.append(Tick(now, {}, {name: gone}))
    return ticks


@pytest.mark.parametrize("text", [FREE, LEAST])
@pytest.mark.parametrize("seed", range(4))
def test_what_was_blocked_comes_up_when_what_blocks_it_goes(text, seed):
    topology = (make_grid(4, 4), read_topology("geometric:14:0.4:2"))[seed % 2]
    ticks = draw_ticks(Random(seed), len(topology))
    for strategy in TECHNIQUES:
        ran = run(text, ticks, topology, strategy, ORDERS[seed // 2])
        assert ran.answers == ran.expected


def test_blocked_claims_are_not_sent():
    all_blocked = [Tick(0, {"r": [(mote, 1) for mote in range(16)]}), Tick(1_000_000, {"q": [(5, 1), (10, 1)]})]
    quiet = run(FREE, all_blocked, make_grid(4, 4))
    assert quiet.tally.by_kind[Kind.RESULT] == 0
    loud = run(FREE, [*all_blocked, Tick(2_000_000, {}, {"r": [(6, 1), (9, 1)]})], make_grid(4, 4))
    assert loud.answers["p"] == loud.expected["p"] == [(5, 6), (5, 9), (10, 6), (10, 9)]
    assert loud.tally.by_kind[Kind.RESULT] > 0


def make_blocked():
    return BlockedClaims(Memory(Network(make_grid(1, 1)).boards[0], keep_us=1_000))


def claim(version=1, in_force=True):
    return Claim((1, ((0, 5, 1),)), (Stop(3, "r", (3,)), Stop(4, "p", (4,))), version, in_force, None)


def test_claim_that_was_never_sent_is_withdrawn_without_a_word():
    blocked, blocker = make_blocked(), (3, 2, 1)
    assert not blocked.take(claim(), blocker)
    assert not blocked.take(claim(LAST, in_force=False), None)
    assert blocked.release(blocker) == []


def test_claim_that_was_sent_is_not_blocked_any_more():
    blocked = make_blocked()
    assert blocked.take(claim(), None)
    assert not blocked.take(claim(), (3, 2, 1))  # a duplicate
    assert blocked.take(claim(LAST, in_force=False), None)
    assert not blocked.take(claim(), None)  # overtaken by its withdrawal


def test_claim_that_was_sent_unkept_is_withdrawn_though_it_would_be_blocked_by_now():
    blocked = make_blocked()
    assert blocked.note_sent(claim())
    assert not blocked.note_sent(claim())
    assert not blocked.take(claim(), (3, 2, 1))  # joined again, when what it denies is known
    assert blocked.take(claim(LAST, in_force=False), None)


def test_released_claim_may_be_blocked_by_another_tuple():
    blocked = make_blocked()
    blocked.take(claim(), (3, 2, 1))
    assert blocked.release((3, 2, 1)) == [claim()]
    blocked.block(claim(), (3, 9, 1))
    assert blocked.release((3, 9, 1)) == [claim()]
