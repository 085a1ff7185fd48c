"""The model of a program that is not recursive by DuckDB: a rule is a SELECT, NOT is NOT EXISTS."""

import duckdb

from skerry.deduce.subgoal_order import Bind, Check, Match, order
from skerry.model.term import Arithmetic, Constant, Variable
from skerry.plan.program import Aggregate, Atom, Checked, Class, Comparison, Rule, Type

TYPES = {Type.INT: "BIGINT", Type.TIME: "BIGINT", Type.FLOAT: "DOUBLE", Type.STRING: "VARCHAR"}
GATHERED = {"count_distinct": "COUNT(DISTINCT {})", "var": "VAR_POP({})"}


def is_supported(checked: Checked) -> bool:
    """Whether SQL has words for all of a program."""
    columns = [column.type for predicate in checked.predicates.values() for column in predicate.columns]
    plain = all(component.kind == Class.N for component in checked.components)
    return plain and set(columns) <= set(TYPES) and not _divides(checked)


def answers(checked: Checked, facts: dict[str, set[tuple]]) -> dict[str, list[tuple]]:
    """All rows by predicate, for given base facts."""
    database = duckdb.connect()
    for name, predicate in checked.predicates.items():
        columns = ", ".join(f"c{index} {TYPES[column.type]}" for index, column in enumerate(predicate.columns))
        database.execute(f'CREATE TABLE "{name}" ({columns})')
        for row in facts.get(name, ()):
            database.execute(f'INSERT INTO "{name}" VALUES ({", ".join("?" * len(row))})', row)
    for component in checked.components:
        selected = " UNION ".join(_Select(rule).text() for rule in component.rules)
        # A relation is a set: UNION drops doubles only between several rules.
        database.execute(f'INSERT INTO "{component.predicates[0]}" SELECT DISTINCT * FROM ({selected})')
    return {name: database.execute(f'SELECT * FROM "{name}"').fetchall() for name in checked.predicates}


class _Select:
    """One rule as a SELECT."""

    def __init__(self, rule: Rule) -> None:
        self._rule, self._known = rule, {}
        self._tables, self._conditions = [], []
        for step in order(rule.body):
            self._take(step)

    def text(self) -> str:
        """The rule's bindings within, and around them what it gathers."""
        inside = [self._inside(argument) for argument in self._rule.head.arguments]
        columns = ", ".join(f"{term} AS h{index}" for index, term in enumerate(inside))
        tables = f" FROM {', '.join(self._tables)}" if self._tables else ""
        where = f" WHERE {' AND '.join(self._conditions)}" if self._conditions else ""
        head = ", ".join(_outside(argument, f"h{index}") for index, argument in enumerate(self._rule.head.arguments))
        grouped = " GROUP BY ALL HAVING COUNT(*) > 0" if self._rule.aggregates else ""
        return f"SELECT {head} FROM (SELECT {columns}{tables}{where}){grouped}"

    def _take(self, step) -> None:
        match step:
            case Bind(variable, term):
                self._known[variable.name] = self._term(term)
            case Match(atom):
                table = f"t{len(self._tables)}"
                self._tables.append(f'"{atom.predicate}" AS {table}')
                for index, term in enumerate(atom.arguments):
                    column = f"{table}.c{index}"
                    if isinstance(term, Variable) and term.name not in self._known:
                        self._known[term.name] = column
                    else:
                        self._conditions.append(f"{column} = {self._term(term)}")
            case Check(Comparison(operator, left, right)):
                self._conditions.append(f"{self._term(left)} {operator} {self._term(right)}")
            case Check(Atom(predicate, arguments)):
                equal = [f"n.c{index} = {self._term(term)}" for index, term in enumerate(arguments)]
                self._conditions.append(f'NOT EXISTS (SELECT 1 FROM "{predicate}" AS n WHERE {" AND ".join(equal)})')

    def _inside(self, argument) -> str:
        term = argument.argument if isinstance(argument, Aggregate) else argument
        return "1" if term is None else self._term(term)

    def _term(self, term) -> str:
        match term:
            case Variable(name):
                return self._known[name]
            case Constant(value):
                return f"'{value}'" if isinstance(value, str) else f"{value!r}"
            case Arithmetic(operator, left, right):
                return f"({self._term(left)} {operator} {self._term(right)})"


def _outside(argument, column: str) -> str:
    if not isinstance(argument, Aggregate):
        return column
    return GATHERED.get(argument.function, argument.function.upper() + "({})").format(column)


def _divides(checked: Checked) -> bool:
    """Whether a rule divides whole numbers, which this language rounds otherwise."""
    equations = [subgoal for rule in checked.rules for subgoal in rule.body if isinstance(subgoal, Comparison)]
    terms = [term for each in equations for term in (each.left, each.right)]
    return any(isinstance(term, Arithmetic) and term.operator in ("/", "//", "%") for term in terms)
