"""Programs that ask for too much, or for what has no meaning: each is refused or stopped, with a code."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

BUILTINS = """
import os, sys, time

def loops(x):
    while True:
        pass

def sleeps(x):
    time.sleep(1_000)

def fails(x):
    raise RuntimeError("poison")

def ends(x):
    os._exit(1)

def lies(x):
    return "many"

def hoards(x):
    return len([bytes(1 << 26) for _ in range(1 << 20)])

def recurses(x):
    return recurses(x) + 1

def grows(x):
    return 2 ** 100
"""


@dataclass(frozen=True)
class Poison:
    """A program, the facts it gets, and the code that it meets."""

    text: str
    code: str
    facts: Mapping[str, Sequence[Sequence[object]]] = field(default_factory=dict)


def numbers(count: int) -> list[tuple[int]]:
    return [(number,) for number in range(count)]


def edges(nodes: int, count: int) -> list[tuple[int, int]]:
    random = Random(1)
    return [(random.randrange(nodes), random.randrange(nodes)) for _ in range(count)]


def clique(nodes: int) -> list[tuple[int, int]]:
    return [(one, other) for one in range(nodes) for other in range(nodes) if one != other]


def calling(function: str, code: str) -> Poison:
    text = f'base a(x: int). builtin function f(int): int = "poisoned:{function}". p(f(x)) :- a(x).'
    return Poison(text, code, {"a": numbers(3)})


AB = {"a": numbers(100_000), "b": numbers(100_000)}
BASES = "base a(x: int). base b(x: int). base e(x: int, y: int)."

REFUSED = {
    "liar": Poison("p(1) :- e(x), NOT p(1).", "E201"),
    "two liars": Poison("p(x) :- e(x), NOT q(x). q(x) :- e(x), NOT p(x).", "E201"),
    "three liars": Poison("p(x) :- e(x), NOT q(x). q(x) :- r(x). r(x) :- p(x).", "E201"),
    "count of itself": Poison("p(count<*>) :- p(x). p(0).", "E201"),
    "sum in a cycle": Poison("p(x, sum<y>) :- q(x, y). q(x, y) :- p(x, y). q(1, 1).", "E201"),
    "endless counter": Poison("n(0). n(x + 1) :- n(x).", "E301"),
    "endless counter down": Poison("n(0). n(x - 1) :- n(x).", "E301"),
    "endless counter in two steps": Poison("n(0). m(x * 2 + 1) :- n(x). n(x) :- m(x).", "E301"),
    "endless list": Poison("l([1]). l([p|1]) :- l(p).", "E301"),
    "endless nesting": Poison("l([1]). l([p]) :- l(p).", "E301"),
    "endless nesting in short lists": Poison("derived l(p: list) limit p <= 2. l([1]). l([p]) :- l(p).", "E301"),
    "endless function symbol": Poison("functor s/1. nat(0). nat(s(x)) :- nat(x).", "E301"),
    "endless counter down, with stages": Poison(
        "derived p(x: int, d: int) stage d limit d <= 9. p(1, 0). p(x, d - 1) :- p(x, d), NOT p(x, d + 1).", "E301"
    ),
    "stage of text": Poison(
        "derived p(x: string, d: int) stage x limit d <= 9. p('a', 0). p(x, d + 1) :- p(x, d), NOT p(x, d).", "E203"
    ),
    "unbound head": Poison("p(x, y) :- e(x).", "E101"),
    "anonymous head": Poison("p(_) :- e(x).", "E102"),
    "unbound input": Poison('builtin predicate f(int) = "geo:close". p(x) :- e(x), f(y).', "E103"),
    "two arities": Poison("p(x) :- e(x). q(x) :- p(x, x).", "E110"),
    "two types": Poison("base e(x: int). base f(x: string). p(x) :- e(x), f(x).", "E110"),
    "deep list": Poison(f"p({'[' * 10_000}{']' * 10_000}).", "E002"),
    "deep arithmetic": Poison(f"p({'(1 + ' * 10_000}1{')' * 10_000}).", "E002"),
    "long arithmetic": Poison(f"p({' + '.join(['1'] * 10_000)}).", "E002"),
    "long text": Poison("# nothing\n" * 200_000, "E002"),
    "many rules": Poison("p(1).\n" * 10_001, "E002"),
    "many subgoals": Poison(f"p(x) :- {', '.join(['e(x)'] * 1_000)}.", "E002"),
    "module that is not allowed": Poison(
        'base e(x: string). builtin function f(string): int = "os:system". p(f(x)) :- e(x).', "E104", {"e": [("true",)]}
    ),
    "code for a name": Poison(
        'base e(x: int). builtin function f(int): int = "geo:__import__(1)". p(f(x)) :- e(x).', "E104", {"e": [(1,)]}
    ),
}

STOPPED = {
    "win-move": Poison("base e(x: int, y: int). win(x) :- e(x, y), NOT win(y).", "E201", {"e": [(1, 2), (2, 1)]}),
    "product": Poison(f"{BASES} p(x, y) :- a(x), b(y).", "E401", AB),
    "product gathered": Poison(f"{BASES} p(count<*>) :- a(x), b(y), x != y.", "E401", AB),
    "product in which nothing fits": Poison(f"{BASES} p(x) :- a(x), b(y), x * x = 0 - y - 1.", "E401", AB),
    "product of many": Poison(
        f"{BASES} p(x0) :- {', '.join(f'a(x{n})' for n in range(12))}, {' + '.join(f'x{n}' for n in range(12))} < 0.",
        "E401",
        {"a": numbers(100)},
    ),
    "counter with a far limit": Poison("derived n(x: int) limit x <= 1000000000. n(0). n(x + 1) :- n(x).", "E401"),
    "counter by stages": Poison(
        "derived n(x: int, d: int) stage d limit d <= 1000000000. n(1, 0). n(x, d + 1) :- n(x, d), NOT m(x, d). "
        "derived m(x: int, d: int) stage d. m(x, d) :- n(x, d), x > 1.",
        "E401",
    ),
    "sums of sums": Poison("derived n(x: int) limit x <= 1000000000. n(1). n(x + y) :- n(x), n(y).", "E401"),
    "long list": Poison("derived l(p: list) limit p <= 100000. l([1]). l([p|1]) :- l(p).", "E401"),
    "deep value": Poison("derived l(p: list, d: int) limit d <= 100. l([1], 0). l([p], d + 1) :- l(p, d).", "E401"),
    "overflow": Poison("derived d(x: int) limit x <= 9223372036854775807. d(1). d(x + x) :- d(x).", "E401"),
    "overflow at once": Poison(f"{BASES} p(x * x * 9) :- a(x).", "E401", {"a": [(2**62,)]}),
    "overflow of a sum": Poison(f"{BASES} p(sum<x>) :- a(x).", "E401", {"a": [(2**62,), (2**62 + 1,)]}),
    "closure too large": Poison(
        f"{BASES} p(x, y) :- e(x, y). p(x, z) :- p(x, y), e(y, z).", "E401", {"e": edges(3_000, 20_000)}
    ),
    "all paths": Poison(
        f"{BASES} derived l(p: list) limit p <= 15. l([x, y]) :- e(x, y). l([p|x, y]) :- l([p|x]), e(x, y).",
        "E401",
        {"e": clique(12)},
    ),
    "all pairs of pairs": Poison(
        f"{BASES} functor pair/2. p(pair(x, y)) :- a(x), a(y). q(pair(x, y)) :- p(x), p(y).", "E401", {"a": numbers(60)}
    ),
    "built-in that loops": calling("loops", "E401"),
    "built-in that sleeps": calling("sleeps", "E401"),
    "built-in that fails": calling("fails", "E402"),
    "built-in that ends its process": calling("ends", "E402"),
    "built-in that lies": calling("lies", "E402"),
    "built-in that hoards": calling("hoards", "E402"),
    "built-in that recurses": calling("recurses", "E402"),
    "built-in that grows": calling("grows", "E402"),
    "built-in that is not there": calling("nothing", "E402"),
}
