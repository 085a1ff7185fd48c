"""Random rule programs over small domains, with random ticks of facts that come, go and expire.

A program is a sequence of layers. Each layer is a component of one class, and may use all before it, negated too:
N (not recursive; aggregates), S (positive recursion), X and Y (by stages; Y with positive recursion within a stage),
and lists and function symbols that grow up to a limit. Where it is asked for, G: recursion through NOT and aggregates
that the facts of a tick may or may not settle; D: stages that fall.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random

from skerry.deduce.change import Tick
from skerry.deduce.checks import check
from skerry.errors import RuleError
from skerry.lang.rules import read
from skerry.plan.program import Checked

NUMBERS, WORDS, FLOATS = (0, 1, 2, 3), ("a", "b", "c"), (0.1, 0.5, -1.25, 2.0)
VARIABLES = {"int": ("x", "y", "z"), "string": ("u", "v"), "float": ("f", "g"), "time": ("t", "t2")}
BASES = {
    "e": ("int", "int"),
    "n": ("int",),
    "s": ("int", "string"),
    "m": ("int", "float"),
    "w": ("int", "int", "time"),
    "r": ("int", "int"),
}
WINDOW, ROWS = 5, 4
AGGREGATES = ("count<*>", "count_distinct<{}>", "sum<{}>", "min<{}>", "max<{}>", "avg<{}>", "var<{}>", "collect<{}>")


@dataclass(frozen=True)
class Generated:
    """A program, and what happens to it."""

    text: str
    checked: Checked
    ticks: tuple[Tick, ...]


def program(seed: int, layers: Sequence[str] | None = None) -> Generated:
    """The program of a seed; ``layers`` says which may be in it: N, S, X, Y, L (lists), F (function symbols), G, D."""
    random = Random(seed)
    while True:
        text, bases = _text(random, layers or "NNNSSXXYLF")
        try:
            return Generated(text, check(read(text)), tuple(_ticks(random, bases)))
        except RuleError:
            continue  # an unlucky one, such as a rule with a variable that nothing binds


def _text(random: Random, layers: Sequence[str]) -> tuple[str, list[str]]:
    bases = ["e", *random.sample(sorted(set(BASES) - {"e"}), random.randint(1, 3))]
    writer = Writer(random, {base: BASES[base] for base in bases})
    for layer in range(random.randint(1, 3)):
        LAYERS[random.choice(layers)](writer, f"p{layer}")
    return "\n".join([*(_declare(random, base) for base in bases), *writer.lines]), bases


def _declare(random: Random, base: str) -> str:
    columns = ", ".join(f"c{index}: {kind}" for index, kind in enumerate(BASES[base]))
    silent = " expire silent" if random.random() < 0.2 else ""
    options = {"w": f" time c2 window {WINDOW} s{silent}", "r": f" window {ROWS} rows"}
    return f"base {base}({columns}){options.get(base, '')}."


@dataclass
class Writer:
    """Writes rules over the predicates there are."""

    random: Random
    known: dict[str, tuple[str, ...]]
    lines: list[str] = field(default_factory=list)

    def variable(self, kind: str) -> str:
        return self.random.choice(VARIABLES[kind])

    def constant(self, kind: str) -> str:
        values = {"string": [f"'{word}'" for word in WORDS], "float": FLOATS}.get(kind, NUMBERS)
        return str(self.random.choice(values))

    def argument(self, kind: str) -> str:
        """An argument of a positive atom."""
        chance = self.random.random()
        return "_" if chance < 0.12 else self.constant(kind) if chance < 0.18 else self.variable(kind)

    def pick_bound(self, kind: str, body: str) -> str:
        """An argument whose variables a body binds."""
        bound = [name for name in VARIABLES[kind] if _mentions(body, name)]
        return self.random.choice(bound) if bound and self.random.random() < 0.85 else self.constant(kind)

    def atom(self, predicate: str, stage: str | None = None) -> str:
        kinds = self.known[predicate]
        arguments = [self.argument(kind) for kind in (kinds if stage is None else kinds[:-1])]
        return f"{predicate}({', '.join([*arguments, *([stage] if stage else [])])})"

    def write_negated(self, predicate: str, body: str, stage: str | None = None) -> str:
        kinds = self.known[predicate]
        arguments = [self.pick_bound(kind, body) for kind in (kinds if stage is None else kinds[:-1])]
        if arguments and self.random.random() < 0.2:
            arguments[self.random.randrange(len(arguments))] = "_"
        return f"NOT {predicate}({', '.join([*arguments, *([stage] if stage else [])])})"

    def relations(self, names: Sequence[str], most: int = 3) -> list[str]:
        """Atoms, mostly few: a product of many says little and takes long."""
        count = min(self.random.randint(1, most), self.random.randint(1, most))
        return [self.atom(self.random.choice(names)) for _ in range(count)]

    def tests(self, body: str, names: Sequence[str]) -> list[str]:
        """Subgoals that bind nothing: negated atoms and comparisons."""
        tests = []
        if self.random.random() < 0.4:
            tests.append(self.write_negated(self.random.choice(names), body))
        if self.random.random() < 0.3:
            kind = self.random.choice(("int", "int", "int", "string", "float"))
            left, right = self.pick_bound(kind, body), self.pick_bound(kind, body)
            tests.append(f"{left} {self.random.choice(('<', '<=', '!=', '=', '>'))} {right}")
        if self.random.random() < 0.1:
            left, right = self.pick_bound("int", body), self.pick_bound("int", body)
            tests.append(f"{left} + 1 >= {right} * 2 - 1")
        return tests

    def rule(self, head: str, body: Sequence[str]) -> None:
        shuffled = self.random.sample(body, len(body))
        self.lines.append(f"{head} :- {', '.join(shuffled)}.")

    def head(self, predicate: str, body: str, stage: str | None = None) -> str:
        kinds = self.known[predicate]
        arguments = [self.pick_bound(kind, body) for kind in (kinds if stage is None else kinds[:-1])]
        return f"{predicate}({', '.join([*arguments, *([stage] if stage else [])])})"

    def plain(self) -> list[str]:
        """The predicates without lists and function symbols."""
        return [name for name, kinds in self.known.items() if set(kinds) <= set(VARIABLES)]

    def kinds(self) -> tuple[str, ...]:
        return tuple(self.random.choices(("int", "string", "float"), (6, 2, 1), k=self.random.randint(1, 3)))


def _mentions(body: str, name: str) -> bool:
    words = body.replace("(", " ").replace(")", " ").replace(",", " ").split()
    return name in words


def _not_recursive(writer: Writer, name: str) -> None:
    names, kinds = writer.plain(), writer.kinds()
    writer.known[name] = kinds
    if writer.random.random() < 0.35:
        _gathering(writer, name, names)
        return
    for _ in range(writer.random.randint(1, 3)):
        body = writer.relations(names)
        known = " ".join(body)
        body += writer.tests(known, names)
        if writer.random.random() < 0.3:
            operator = writer.random.choice(("+", "-", "*", "+", "-", "//", "%"))
            body.append(f"z = {writer.pick_bound('int', known)} {operator} {writer.pick_bound('int', known)}")
        writer.rule(writer.head(name, " ".join(body)), body)


def _gathering(writer: Writer, name: str, names: Sequence[str]) -> None:
    body = writer.relations(names)
    known = " ".join(body)
    body += writer.tests(known, names)
    bound = [variable for variable in ("x", "y", "z", "f") if _mentions(known, variable)]
    function = writer.random.choice(AGGREGATES if bound else AGGREGATES[:1])
    gathered = function.format(writer.random.choice(bound)) if bound else function
    writer.rule(f"{name}({writer.pick_bound('int', known)}, {gathered})", body)
    del writer.known[name]
    if gathered.startswith("count"):
        writer.known[name] = ("int", "int")


def _recursive(writer: Writer, name: str) -> None:
    names = writer.plain()
    members = [name, f"{name}b"][: writer.random.randint(1, 2)]
    for member in members:
        writer.known[member] = ("int",) * writer.random.randint(1, 2)
    if writer.random.random() < 0.2:
        writer.lines.append(f"{writer.head(name, '')}.")
    for member in members:
        body = writer.relations(names, 2)
        writer.rule(writer.head(member, " ".join(body)), body + writer.tests(" ".join(body), names))
    for _ in range(writer.random.randint(1, 3)):
        member = writer.random.choice(members)
        body = writer.relations(members, 2) + writer.relations(names, 1)
        writer.rule(writer.head(member, " ".join(body)), body + writer.tests(" ".join(body), names))
    if len(members) == 2:
        body = [writer.atom(members[1]), *writer.relations(names, 1)]
        writer.rule(writer.head(name, " ".join(body)), body)


def _write_staged(writer: Writer, name: str, recursive: bool = False) -> None:
    """Predicates whose last column is a stage: a rule looks at lower stages, and at its own for earlier members."""
    names, random = writer.plain(), writer.random
    members = [f"{name}{letter}" for letter in "abc"[: random.randint(1, 3)]]
    for member in members:
        writer.known[member] = (*("int",) * random.randint(1, 2), "int")
        columns = ", ".join(f"c{index}: int" for index in range(len(writer.known[member]) - 1))
        stage = "stage d " if random.random() < 0.7 else ""
        writer.lines.append(f"derived {member}({columns}, d: int) {stage}limit d <= {random.randint(2, 4)}.")
    body = writer.relations(names, 1)
    writer.rule(writer.head(members[0], " ".join(body), "0"), body)
    for index, member in enumerate(members):
        for _ in range(random.randint(1, 2)):
            _write_staged_rule(writer, members, index, recursive)
        if recursive and random.random() < 0.6:
            body = [writer.atom(member, "d"), *writer.relations(names, 1)]
            writer.rule(writer.head(member, " ".join(body), "d"), body)
    if random.random() < 0.2:
        _write_counted_stage(writer, f"{name}n", members)


def _write_counted_stage(writer: Writer, name: str, members: Sequence[str]) -> None:
    """An aggregate over one stage on which the next stages depend."""
    writer.lines.append(f"derived {name}(c: int, d: int) stage d limit d <= 4.")
    writer.rule(f"{name}(count<*>, d + 1)", [writer.atom(writer.random.choice(members), "d")])
    body = [f"{name}(z, d)", writer.atom("e"), f"z < {writer.constant('int')}"]
    writer.rule(writer.head(members[0], " ".join(body), "d + 1"), body)


def _write_staged_rule(writer: Writer, members: Sequence[str], index: int, recursive: bool) -> None:
    random, names = writer.random, writer.plain()
    body = [writer.atom(random.choice([members[0], *members]), "d")]
    if random.random() < 0.6:
        body += writer.relations([name for name in names if name not in members], 1)
    known, earlier = " ".join(body), members[:index]
    if earlier and random.random() < 0.6:
        other = random.choice(earlier)
        body.append(
            writer.write_negated(other, known, "d + 1") if random.random() < 0.6 else writer.atom(other, "d + 1")
        )
    if random.random() < 0.5:
        body.append(writer.write_negated(random.choice(members), known, "d"))
    if random.random() < 0.3:
        body += [writer.atom(random.choice(members), "d'"), random.choice(("d' < d + 1", "d + 1 > d'", "d' <= d"))]
    if recursive and random.random() < 0.3:
        body.append(writer.atom(members[index], "d + 1"))
    writer.rule(writer.head(members[index], known, "d + 1"), body)


def _write_falling(writer: Writer, name: str) -> None:
    """Counters that fall to zero, and what stops them."""
    random, names = writer.random, writer.plain()
    members = [name, f"{name}b"]
    for member in members:
        writer.known[member] = ("int", "int")
    writer.lines.append(f"{name}({random.choice(NUMBERS)}, {random.randint(2, 5)}).")
    for member in random.choices(members, k=random.randint(2, 4)):
        body = [f"{random.choice(members)}(x, n)", "n > 0", *writer.relations(names, 1)]
        known = " ".join(body)
        if random.random() < 0.7:
            body.append(f"NOT {random.choice(members)}({writer.pick_bound('int', known)}, n)")
        writer.rule(f"{member}({writer.pick_bound('int', known)}, n - 1)", body)


def _write_unordered(writer: Writer, name: str) -> None:
    """Recursion through NOT, and sometimes an aggregate, with no column that settles it."""
    random, names = writer.random, writer.plain()
    members = [name, f"{name}b"][: random.randint(1, 2)]
    for member in members:
        writer.known[member] = ("int",)
    for _ in range(random.randint(2, 4)):
        body = [f"e({'x, y' if random.random() < 0.7 else 'y, x'})", *writer.relations(names, 1)]
        if random.random() < 0.75:
            body.append(f"{random.choice(('x < y', 'x > y', 'x != y'))}")
        body.append(f"{random.choice(('NOT ', 'NOT ', ''))}{random.choice(members)}(y)")
        if random.random() < 0.2:
            body.append(f"{random.choice(members)}(y)")
        writer.rule(f"{random.choice(members)}(x)", body)
    writer.rule(f"{name}(x)", ["n(x)"] if "n" in names else ["e(x, _)", "x < 2"])
    if random.random() < 0.4:
        function = random.choice(("count<*>", "sum<z>", "min<z>", "max<z>"))
        writer.rule(f"{name}n(x, 1)", [f"{random.choice(members)}(x)"])
        writer.rule(f"{name}n(x, {function})", ["e(x, y)", f"{name}n(y, z)", random.choice(("x < y", "x <= y"))])
        writer.rule(f"{members[-1]}(x)", [f"{name}n(y, z)", "e(x, y)", "x < y", f"z > {random.choice(NUMBERS)}"])


def _lists(writer: Writer, name: str) -> None:
    """Paths as lists, their ends, and those that lead on."""
    edge = writer.random.choice([base for base, kinds in writer.known.items() if kinds == ("int", "int")])
    writer.lines.append(f"derived {name}(path: list) limit path <= {writer.random.randint(2, 4)}.")
    writer.rule(f"{name}([x, y])", [f"{edge}(x, y)", *writer.tests(f"{edge}(x, y)", writer.plain())])
    writer.rule(f"{name}([path|x, y])", [f"{name}([path|x])", f"{edge}(x, y)"])
    writer.rule(f"{name}ends(x, y)", [f"{name}([x, y])"])
    writer.rule(f"{name}last(x)", [f"{name}([path|x])", f"NOT {name}ends(x, _)"])
    writer.known[f"{name}ends"], writer.known[f"{name}last"] = ("int", "int"), ("int",)


def _functions(writer: Writer, name: str) -> None:
    """Pairs that are put together and taken apart."""
    body = writer.relations(writer.plain(), 2)
    known = " ".join(body)
    functor = f"pair{name}"
    writer.lines.append(f"functor {functor}/2.")
    first, second, third = (writer.pick_bound("int", known) for _ in range(3))
    writer.rule(f"{name}made({first}, {functor}({second}, {third}))", body)
    writer.rule(f"{name}(x, y)", [f"{name}made(_, {functor}(x, y))", f"NOT {name}made(x, {functor}(y, x))"])
    writer.known[name] = ("int", "int")


LAYERS: dict[str, Callable[[Writer, str], None]] = {
    "N": _not_recursive,
    "S": _recursive,
    "X": _write_staged,
    "Y": lambda writer, name: _write_staged(writer, name, recursive=True),
    "L": _lists,
    "F": _functions,
    "G": _write_unordered,
    "D": _write_falling,
}


def _ticks(random: Random, bases: Sequence[str]) -> list[Tick]:
    now, there, ticks = 0, {base: list[tuple[object, ...]]() for base in bases}, []
    timed = random.random() < 0.8
    for first in [True] + [False] * random.randint(2, 4):
        now += random.choice((1, 1, 2, 3, WINDOW + 1))
        inserts, deletes = {}, {}
        for base in bases if first else random.sample(bases, random.randint(1, len(bases))):
            come = [_fact(random, base, now) for _ in range(random.randint(4, 9) if first else random.randint(0, 3))]
            gone = random.sample(there[base], min(len(there[base]), random.randint(0, 3)))
            gone += [_fact(random, base, now)] * (random.random() < 0.2)
            inserts[base] = come
            deletes[base] = [fact for fact in gone if fact not in come]
            there[base] = [fact for fact in there[base] if fact not in gone] + come
        ticks.append(Tick(now if timed else None, inserts, deletes))
    return ticks


def _fact(random: Random, base: str, now: int) -> tuple[object, ...]:
    values = {"int": NUMBERS, "string": WORDS, "float": FLOATS, "time": range(now - WINDOW - 1, now + 1)}
    return tuple(random.choice(values[kind]) for kind in BASES[base])
