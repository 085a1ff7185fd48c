"""Random rule programs over small topologies, with facts that come and go while messages of earlier ones are under way.

A program has links, facts with and without a host, layers that are not recursive (with NOT, comparisons, aggregates
and ranges), and layers by stages with a limit.
"""

import re
from dataclasses import dataclass, field
from random import Random

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.deduce.facts import Facts
from skerry.errors import RuleError
from skerry.lang.rules import read
from skerry.network.link_changes import LinkChange
from skerry.network.rules.refusals import refuse_program
from skerry.network.topology.grid import make_grid
from skerry.network.topology.topology import Topology
from skerry.plan.program import MICROSECONDS, Checked

VARIABLES = {"node": ("a", "b", "c"), "int": ("x", "y")}
BASES = {"q": ("node", "int"), "s": ("int", "int"), "e": ("node", "node"), "w": ("node", "int", "time")}
DECLARATIONS = {
    "q": "base q(n: node, v: int) host n.",
    "s": "base s(v: int, u: int).",
    "e": "base e(n: node, m: node) host m.",
    "w": "base w(n: node, v: int, t: time) host n time t window 60 ms.",
}
AGGREGATES = ("count<*>", "sum<{}>", "min<{}>", "max<{}>", "count_distinct<{}>")
TOPOLOGIES = (
    make_grid(2, 3),
    make_grid(3, 3),
    Topology.of_links(5, [(0, 1), (1, 2), (2, 3), (3, 4)]),
    Topology.of_links(6, [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4), (4, 5)]),
    Topology.of_links(7, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]),
    Topology.of_links(6, [(0, 3), (3, 1), (1, 4), (4, 0), (3, 4), (2, 5), (5, 1)]),
)
SPAN_US = 200_000
SETTLED_US = 3_000_000


@dataclass(frozen=True)
class RandomProgram:
    """A program, where it runs, and what happens there."""

    text: str
    checked: Checked
    topology: Topology
    facts: Facts


def random_program(seed: int) -> RandomProgram:
    """The program of a seed."""
    random = Random(seed)
    topology = random.choice(TOPOLOGIES)
    while True:
        writer = _Writer(random, len(topology))
        text = writer.write()
        try:
            checked = check(read(text))
            refuse_program(checked)
        except RuleError:
            continue  # an unlucky one, such as a rule with a variable that nothing binds
        return RandomProgram(text, checked, topology, Facts(_ticks(random, writer.bases, len(topology)), MICROSECONDS))


@dataclass
class _Writer:
    random: Random
    motes: int
    lines: list[str] = field(default_factory=list)
    known: dict[str, tuple[str, ...]] = field(default_factory=dict)
    bases: list[str] = field(default_factory=list)

    def write(self) -> str:
        random = self.random
        reach = random.choice(("", "", " within 2 hops"))
        self.lines.append(f"base g(n: node, m: node) link{reach}.")
        self.bases = random.sample(sorted(BASES), random.randint(1, 3))
        self.lines += [DECLARATIONS[base] for base in self.bases]
        self.known = {"g": ("node", "node"), **{base: BASES[base] for base in self.bases}}
        if random.random() < 0.3:
            self.written()
        for layer in range(random.randint(1, 3)):
            layers = (self.plain, self.plain, self.staged, self.gathering, self.denying, self.ranging)
            random.choice(layers)(f"p{layer}")
        derived = [name for name in self.known if name not in ("g", *self.bases)]
        if random.random() < 0.5:
            self.lines += [f"output {name}." for name in derived if random.random() < 0.5]
        return "\n".join(self.lines)

    def written(self) -> None:
        """Facts of the text, which all motes know from the start."""
        self.declare("f", ("node", "int"))
        facts = [f"f({self.constant('node')}, {self.constant('int')})." for _ in range(self.random.randint(1, 3))]
        self.lines += dict.fromkeys(facts)

    def argument(self, kind: str) -> str:
        if kind == "time":
            return "_"
        chance = self.random.random()
        return "_" if chance < 0.12 else self.constant(kind) if chance < 0.2 else self.random.choice(VARIABLES[kind])

    def constant(self, kind: str) -> str:
        return str(self.random.randrange(self.motes if kind == "node" else 3))

    def bound(self, kind: str, body: str) -> str:
        words = body.replace("(", " ").replace(")", " ").replace(",", " ").split()
        found = [name for name in VARIABLES[kind] if name in words]
        return self.random.choice(found) if found and self.random.random() < 0.9 else self.constant(kind)

    def atom(self, name: str, stage: str | None = None) -> str:
        kinds = self.known[name] if stage is None else self.known[name][:-1]
        return f"{name}({', '.join([*map(self.argument, kinds), *([stage] if stage else [])])})"

    def negated(self, name: str, body: str, stage: str | None = None) -> str:
        kinds = self.known[name] if stage is None else self.known[name][:-1]
        arguments = ["_" if kind == "time" else self.bound(kind, body) for kind in kinds]
        if arguments and self.random.random() < 0.2:
            arguments[self.random.randrange(len(arguments))] = "_"
        return f"NOT {name}({', '.join([*arguments, *([stage] if stage else [])])})"

    def tests(self, body: str) -> list[str]:
        tests = []
        for _ in range(2):
            if self.random.random() < 0.35:
                tests.append(self.negated(self.random.choice(list(self.known)), body))
        if self.random.random() < 0.3:
            kind = self.random.choice(("node", "int"))
            tests.append(f"{self.bound(kind, body)} {self.random.choice(('<', '!=', '>='))} {self.bound(kind, body)}")
        return tests

    def rule(self, head: str, body: list[str]) -> None:
        self.lines.append(f"{head} :- {', '.join(self.random.sample(body, len(body)))}.")

    def head(self, name: str, body: str, stage: str | None = None) -> str:
        kinds = self.known[name] if stage is None else self.known[name][:-1]
        return f"{name}({', '.join([*(self.bound(kind, body) for kind in kinds), *([stage] if stage else [])])})"

    def body(self, most: int = 3) -> list[str]:
        return [self.atom(self.random.choice(list(self.known))) for _ in range(self.random.randint(1, most))]

    def plain(self, name: str) -> None:
        kinds = tuple(self.random.choices(("node", "int"), (2, 1), k=self.random.randint(1, 2)))
        rules = [self.body() for _ in range(self.random.randint(1, 2))]
        bodies = [[*atoms, *self.tests(" ".join(atoms))] for atoms in rules]
        self.declare(name, kinds)
        for atoms, body in zip(rules, bodies, strict=True):
            self.rule(self.head(name, " ".join(atoms)), body)

    def declare(self, name: str, kinds: tuple[str, ...]) -> None:
        self.known[name] = kinds
        columns = ", ".join(f"c{index}: {kind}" for index, kind in enumerate(kinds))
        hosts = [index for index, kind in enumerate(kinds) if kind == "node"]
        host = f" host c{self.random.choice(hosts)}" if hosts and self.random.random() < 0.5 else ""
        self.lines.append(f"derived {name}({columns}){host}.")

    def gathering(self, name: str) -> None:
        atoms = self.body(2)
        known = " ".join(atoms)
        gathered = self.random.choice(AGGREGATES).format(self.bound("int", known))
        kind = self.random.choice(("node", "int"))
        self.rule(f"{name}({self.bound(kind, known)}, {gathered})", [*atoms, *self.tests(known)])
        self.lines.append(f"derived {name}(c0: {kind}, c1: int).")
        self.known[name] = (kind, "int")

    def ranging(self, name: str) -> None:
        """The numbers of a range, perhaps compared with those that are known, or denied."""
        atoms = self.body(2)
        known = " ".join(atoms)
        ends = [self.bound(self.random.choice(("int", "int", "node")), known) for _ in range(2)]
        step = self.random.choice(("", "", ", 2", ", -1"))
        ranged = f"{self.random.choice(('z', 'z', 'x'))} in range({', '.join(ends)}{step})"
        body = [*atoms, ranged, *self.tests(f"{known} {ranged}".replace("z", "x"))]
        self.declare(name, ("node", "int"))
        self.rule(f"{name}({self.bound('node', known)}, {ranged[0]})", body)

    def denying(self, name: str) -> None:
        """NOT of what the rule's own body is a part of: ``p :- body, NOT n`` and ``n :- body, more``."""
        atoms = self.body(2)
        node, number = self.bound("node", " ".join(atoms)), self.bound("int", " ".join(atoms))
        others = {each: f"{each}2" for kind in VARIABLES for each in VARIABLES[kind] if each not in (node, number)}
        again = [re.sub(r"\b[abcxy]\b", lambda found: others.get(found[0], found[0]), atom) for atom in atoms]
        more, kinds = self.random.choice([(each, kinds) for each, kinds in self.known.items() if each != "g"])
        open_ones = {"node": self.random.choice((node, node, "a3")), "int": "x3", "time": "_"}
        again.append(f"{more}({', '.join(open_ones[kind] for kind in kinds)})")
        if "int" in kinds:
            again.append(f"x3 {self.random.choice(('<', '=', '>='))} {number}")
        self.declare(f"{name}n", ("node", "int"))
        self.rule(f"{name}n({node}, {number})", again)
        self.declare(name, ("node",))
        self.rule(self.head(name, " ".join(atoms)), [*atoms, f"NOT {name}n({node}, {number})"])

    def staged(self, name: str) -> None:
        random, outside = self.random, [each for each in self.known if each != "g"]
        members = [f"{name}{letter}" for letter in "ab"[: random.randint(1, 2)]]
        seed = [self.atom(random.choice(outside))]
        for member in members:
            self.known[member] = ("node", "int")
            host = " host c" if random.random() < 0.5 else ""
            self.lines.append(f"derived {member}(c: node, d: int){host} stage d limit d <= {random.randint(2, 3)}.")
        self.rule(self.head(members[0], " ".join(seed), "0"), seed)
        for index, member in enumerate(members):
            for _ in range(random.randint(1, 2)):
                body = [self.atom(random.choice(members), "d"), self.atom(random.choice(["g", *outside]))]
                known = " ".join(body)
                if index and random.random() < 0.6:
                    body.append(self.negated(members[0], known, "d + 1"))
                if random.random() < 0.5:
                    body.append(self.negated(random.choice(members), known, "d"))
                if random.random() < 0.3:
                    body += [self.atom(random.choice(members), "d'"), "d' <= d"]
                self.rule(self.head(member, known, "d + 1"), body)


def _ticks(random: Random, bases: list[str], motes: int) -> list[Tick]:
    there: dict[str, list[tuple[int, ...]]] = {base: [] for base in bases}
    ticks, times = [], sorted(random.sample(range(0, SPAN_US, 1_000), random.randint(2, 5)))
    for now in times:
        inserts, deletes = {}, {}
        for base in bases:
            come = list(dict.fromkeys(_fact(random, base, motes, now) for _ in range(random.randint(0, 4))))
            gone = random.sample(there[base], min(len(there[base]), random.randint(0, 2)))
            inserts[base], deletes[base] = come, [fact for fact in gone if fact not in come]
            there[base] = [fact for fact in there[base] if fact not in gone and fact not in come] + come
        ticks.append(Tick(now, inserts, deletes))
    if random.random() < 0.5:  # when all is settled, some facts go, and what they blocked comes up
        gone = {base: random.sample(facts, (len(facts) + 1) // 2) for base, facts in there.items()}
        ticks.append(Tick(SETTLED_US, {}, gone))
    return ticks


def _fact(random: Random, base: str, motes: int, now: int) -> tuple[int, ...]:
    values = {"node": range(motes), "int": range(3), "time": range(now - 70_000, now + 1, 5_000)}
    return tuple(random.choice(values[kind]) for kind in BASES[base])


def random_changes(seed: int, topology: Topology) -> list[LinkChange]:
    """Links that come and go and motes that die, while facts do so too; at the end all are alive and connected."""
    random, now, motes, dead = Random(f"changes {seed}"), topology, range(len(topology)), set[int]()
    changes = []
    for time_us in sorted(random.sample(range(0, 2 * SPAN_US, 1_000), random.randint(1, 4))):
        if random.random() < 0.3:
            mote = random.choice(motes)
            changes.append(LinkChange(time_us, mote, None, mote in dead))
            dead ^= {mote}
        else:
            one, other = random.sample(motes, 2)
            is_up = other not in now.neighbours[one]
            changes.append(LinkChange(time_us, one, other, is_up))
            now = now.join(one, other) if is_up else now.cut(one, other)
    last_us = random.choice((2 * SPAN_US, 2 * SETTLED_US))
    changes += [LinkChange(last_us, mote, None, True) for mote in sorted(dead)]
    hops = now.distances_from(0)
    while min(hops) < 0:
        one, other = random.choice(motes), hops.index(-1)
        if hops[one] >= 0:
            changes.append(LinkChange(last_us, one, other, True))
            now = now.join(one, other)
            hops = now.distances_from(0)
    return changes
