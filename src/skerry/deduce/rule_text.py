"""Rules as text, which reads back as what was written."""

import math
from collections.abc import Iterator

from skerry.model.term import Arithmetic, Call, Compound, Constant, Duration, Term, Terms, Value, Variable
from skerry.plan.limits import LIMITS, Limits
from skerry.plan.program import RANGE, Aggregate, Atom, Builtin, Comparison, Predicate, Program, Rule, Subgoal

__all__ = [
    "write",
    "write_limits",
    "write_link",
    "write_original",
    "write_rule",
    "write_subgoal",
    "write_term",
    "write_value",
]

_ESCAPES = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\t": "\\t", "\r": "\\r"})
_SPANS = {86_400_000_000: "day", 3_600_000_000: "h", 60_000_000: "min", 1_000_000: "s", 1_000: "ms", 1: "us"}


def write_value(value: Value) -> str:
    r"""A value as it is written in a program.

    >>> print(write_value((1, 2.0, "it's", True)))
    [1, 2.0, 'it\'s', TRUE]
    """
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f"'{value.translate(_ESCAPES)}'"
        case tuple():
            return f"[{', '.join(map(write_value, value))}]"
        case Compound(name, arguments):
            return f"{name}({', '.join(map(write_value, arguments))})"
    return repr(value)


def write_term(term: Term | Aggregate) -> str:
    """A term, or an aggregate of a head."""
    match term:
        case Variable(name):
            return name
        case Constant(value):
            return write_value(value)
        case Duration(microseconds):
            return write_span(microseconds)
        case Arithmetic(operator, left, right):
            return f"{_inside(left)} {operator} {_inside(right)}"
        case Terms(items, None, front):
            return f"[{front.name + '|' if front else ''}{', '.join(map(write_term, items))}]"
        case Aggregate(function, argument):
            return f"{function}<{'*' if argument is None else write_term(argument)}>"
        case Call(name, arguments) | Terms(arguments, name, _):
            return f"{name}({', '.join(map(write_term, arguments))})"


def write_span(microseconds: int) -> str:
    """A length of time in the greatest unit that measures it.

    >>> write_span(90_000_000)
    '90 s'
    """
    size = next(size for size in _SPANS if microseconds % size == 0) if microseconds else 1_000_000
    return f"{microseconds // size} {_SPANS[size]}"


def write_subgoal(subgoal: Subgoal) -> str:
    """A subgoal of a body."""
    match subgoal:
        case Comparison(operator, left, right):
            return f"{write_term(left)} {operator} {write_term(right)}"
        case Atom(name, arguments, negated) | Builtin(name, arguments, negated):
            text = f"{name}({', '.join(map(write_term, arguments))})"
            return f"NOT {text}" if negated else text


def write_original(subgoal: Subgoal, rule: Rule) -> str:
    """A subgoal of a checked rule as the user wrote it: with terms where the checks have put variables.

    >>> added = Comparison("=", Variable("$v1"), Arithmetic("+", Variable("d"), Constant(1)))
    >>> atom = Atom("p", (Variable("$v1"), Variable("$_2")))
    >>> write_original(atom, Rule(Atom("q", ()), (atom, added), 1))
    'p(d + 1, _)'
    """
    meanings = {
        each.left: each.right
        for each in rule.body
        if isinstance(each, Comparison) and isinstance(each.left, Variable) and each.left.name.startswith("$v")
    }

    def restore(term: Term) -> Term:
        match term:
            case Variable(name) if name.startswith("$_"):
                return Variable("_")
            case Variable() if term in meanings:
                return restore(meanings[term])
            case Terms(items, name, front):
                return Terms(tuple(map(restore, items)), name, front and Variable(write_term(restore(front))))
            case Call(name, arguments):
                return Call(name, tuple(map(restore, arguments)))
            case Arithmetic(operator, left, right):
                return Arithmetic(operator, restore(left), restore(right))
        return term

    match subgoal:
        case Comparison(operator, left, right):
            return write_subgoal(Comparison(operator, restore(left), restore(right)))
        case Builtin(name, arguments, negated):
            return write_subgoal(Builtin(name, tuple(map(restore, arguments)), negated))
    plain = tuple(argument if isinstance(argument, Aggregate) else restore(argument) for argument in subgoal.arguments)
    if subgoal.predicate.startswith(RANGE):
        return write_subgoal(Atom("range", plain[:2]))
    return write_subgoal(Atom(subgoal.predicate, plain, subgoal.negated))


def write_rule(rule: Rule) -> str:
    """A rule or fact, its full stop included."""
    body = ", ".join(map(write_subgoal, rule.body))
    return f"{write_subgoal(rule.head)}{' :- ' + body if body else ''}."


def write(program: Program) -> str:
    """A whole program, a statement a line: declarations first. Constants are written where they are used."""
    return "\n".join([*_declarations(program), *map(write_rule, program.rules), ""])


def _inside(term: Term) -> str:
    text = write_term(term)
    return f"({text})" if isinstance(term, Arithmetic) else text


def _declarations(program: Program) -> Iterator[str]:
    for predicate in program.predicates.values():
        yield " ".join([_write_declaration(predicate), *_options(predicate)]) + "."
    for name, value in program.constants.items():
        yield f"const {name} = {write_value(value)}."
    for name, arity in program.functors.items():
        yield f"functor {name}/{arity}."
    for function in program.functions.values():
        kind, result = ("function", f": {function.result}") if function.result else ("predicate", "")
        signature = f"{function.name}({', '.join(function.parameters)}){result}"
        yield f"builtin {kind} {signature} = {write_value(function.path)}."
    for spatial in program.spatial:
        yield f"spatial {spatial.left} ~ {spatial.right} within {spatial.hops} hops."
    yield from write_limits(program.limits)
    for output in program.outputs:
        to = f" to {write_value(output.to)}" if output.to is not None else ""
        yield f"output {output.predicate} mode {output.mode}{to}."


def write_limits(limits: Limits) -> Iterator[str]:
    """The limits that were set.

    >>> list(write_limits(Limits(tuples=5, seconds=math.inf)))
    ['limit tuples 5.', 'limit seconds none.']
    """
    for name in LIMITS:
        most = getattr(limits, name)
        if most is not None:
            yield f"limit {name} {'none' if math.isinf(most) else most}."


def write_link(hops: int) -> str:
    """The option of a predicate that holds links.

    >>> write_link(1), write_link(3)
    ('link', 'link within 3 hops')
    """
    return "link" if hops == 1 else f"link within {hops} hops"


def _write_declaration(predicate: Predicate) -> str:
    columns = ", ".join(f"{column.name}: {column.type}" for column in predicate.columns)
    return f"{'base' if predicate.base else 'derived'} {predicate.name}({columns})"


def _options(predicate: Predicate) -> Iterator[str]:
    for option, position in (("time", predicate.time), ("host", predicate.host), ("stage", predicate.stage)):
        if position is not None:
            yield f"{option} {predicate.columns[position].name}"
    if predicate.window_rows is not None:
        yield f"window {predicate.window_rows} rows"
    if predicate.window_us is not None:
        yield f"window {write_span(predicate.window_us)}"
    if predicate.slide_us is not None:
        yield f"slide {write_span(predicate.slide_us)}"
    if predicate.watermark_us:
        yield f"watermark {write_span(predicate.watermark_us)}"
    if predicate.silent:
        yield "expire silent"
    if predicate.link is not None:
        yield write_link(predicate.link)
    for position, greatest in predicate.limits.items():
        yield f"limit {predicate.columns[position].name} <= {greatest}"
