"""The model of a program by clingo: another engine, another language, the same meaning."""

import clingo

from skerry.model.term import Arithmetic, Compound, Constant, Terms, Variable, variables
from skerry.plan.program import Aggregate, Atom, Checked, Comparison, Rule, Type

TYPES = {Type.INT, Type.STRING, Type.TIME, Type.NODE, Type.ANY}
GATHERED = {"count": "#count", "count_distinct": "#count", "sum": "#sum", "min": "#min", "max": "#max"}


def is_supported(checked: Checked) -> bool:
    """Whether clingo has words for all of a program: it knows no floats, and lists are not its own."""
    columns = [column.type for predicate in checked.predicates.values() for column in predicate.columns]
    gathered = [each.function for rule in checked.rules for each in rule.head.arguments if isinstance(each, Aggregate)]
    return set(columns) <= TYPES and set(gathered) <= set(GATHERED) and not _foreign(checked)


def answer_set(checked: Checked, facts: dict[str, set[tuple]]) -> dict[str, set[tuple]]:
    """All rows by predicate, for given base facts."""
    names = {name: f"p{number}" for number, name in enumerate(checked.predicates)}
    lines = [f"{names[name]}({', '.join(map(_value, row))})." for name, rows in facts.items() for row in rows]
    lines += [_Writer(checked, names, rule).text() for rule in checked.rules]
    control = clingo.Control(["--warn=none"])
    control.add("base", [], "\n".join(lines))
    control.ground([("base", [])])
    model: dict[str, set[tuple]] = {name: set() for name in names}
    meant = {short: name for name, short in names.items()}
    with control.solve(yield_=True) as handle:
        [atoms] = [found.symbols(atoms=True) for found in handle]
    for atom in atoms:
        model[meant[atom.name]].add(tuple(map(_python, atom.arguments)))
    return model


def _value(value) -> str:
    if isinstance(value, Compound):
        return f"f_{value.name}({', '.join(map(_value, value.arguments))})"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _python(symbol):
    if symbol.type == clingo.SymbolType.Function:
        return Compound(symbol.name.removeprefix("f_"), tuple(map(_python, symbol.arguments)))
    return symbol.number if symbol.type == clingo.SymbolType.Number else symbol.string


class _Writer:
    """Writes one rule as clingo would have it."""

    def __init__(self, checked: Checked, names: dict[str, str], rule: Rule) -> None:
        self._names, self._rule = names, rule
        self._limits = checked.predicates[rule.head.predicate].limits

    def text(self) -> str:
        head = [
            "Gathered" if isinstance(argument, Aggregate) else self._term(argument)
            for argument in self._rule.head.arguments
        ]
        body = self._gathering() if self._rule.aggregates else self._body()
        body += [f"{head[column]} <= {most}" for column, most in self._limits.items()]
        return f"{self._names[self._rule.head.predicate]}({', '.join(head)}) :- {', '.join(body) or '1 = 1'}."

    def _body(self, outer: str = "V") -> list[str]:
        return [self._subgoal(subgoal, outer) for subgoal in self._rule.body]

    def _gathering(self) -> list[str]:
        """The groups by one copy of the body, what is gathered by another: they share the plain head arguments."""
        [aggregate] = [each for each in self._rule.head.arguments if isinstance(each, Aggregate)]
        inside = sorted({name for subgoal in self._rule.body for name in _names(subgoal)} - self._plain())
        variables = [self._variable(name, "V") for name in inside] or ["0"]
        if aggregate.function == "count_distinct":
            variables = []
        elif not aggregate.argument:
            variables = variables or ["0"]
        weight = [self._term(aggregate.argument)] if aggregate.argument else []
        gathered = f"{GATHERED[aggregate.function]} {{ {', '.join(weight + variables)} : {', '.join(self._body())} }}"
        return [*self._body("W"), f"Gathered = {gathered}"]

    def _plain(self) -> set[str]:
        plain = [each for each in self._rule.head.arguments if not isinstance(each, Aggregate)]
        return {variable.name for term in plain for variable in variables(term)}

    def _variable(self, name: str, outer: str) -> str:
        prefix = "V" if name in self._plain() else outer
        return prefix + "".join(letter if letter.isalnum() else f"_{ord(letter)}_" for letter in name)

    def _subgoal(self, subgoal, outer: str) -> str:
        match subgoal:
            case Comparison(operator, left, right):
                return f"{self._term(left, outer)} {operator} {self._term(right, outer)}"
            case Atom(predicate, arguments, negated):
                atom = f"{self._names[predicate]}({', '.join(self._term(each, outer) for each in arguments)})"
                return f"not {atom}" if negated else atom

    def _term(self, term, outer: str = "V") -> str:
        match term:
            case Variable(name):
                return self._variable(name, outer)
            case Constant(value):
                return _value(value)
            case Arithmetic(operator, left, right):
                return f"({self._term(left, outer)} {operator} {self._term(right, outer)})"
            case Terms(items, name):
                return f"f_{name}({', '.join(self._term(each, outer) for each in items)})"


def _names(subgoal) -> set[str]:
    terms = (subgoal.left, subgoal.right) if isinstance(subgoal, Comparison) else subgoal.arguments
    return {variable.name for term in terms for variable in variables(term)}


def _foreign(checked: Checked) -> bool:
    """Whether a rule divides whole numbers, which clingo rounds otherwise, or names a float."""
    equations = [subgoal for rule in checked.rules for subgoal in rule.body if isinstance(subgoal, Comparison)]
    for term in (term for each in equations for term in (each.left, each.right)):
        if isinstance(term, Arithmetic) and term.operator in ("/", "//", "%"):
            return True
        if isinstance(term, Constant) and isinstance(term.value, float):
            return True
    return False
