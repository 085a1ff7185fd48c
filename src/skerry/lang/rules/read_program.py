"""Text into a program: declarations first, wherever they stand, then the rules."""

from skerry.deduce.subgoal_order import variables_of
from skerry.errors import RuleError
from skerry.lang.rules.declarations import Declarations
from skerry.lang.rules.ranges import spell_out
from skerry.lang.rules.syntax import Statement, statements
from skerry.lang.rules.terms import Names, Reader
from skerry.plan.limits import Limits
from skerry.plan.program import Atom, Program, Rule

__all__ = ["read"]

_MOST_RULES = 10_000
_MOST_SUBGOALS = 200


def read(text: str) -> Program:
    """Read a rule program.

    >>> program = read("derived far(x: int). far(x + 1) :- near(x, _), NOT home(x).")
    >>> [(rule.number, rule.head.predicate, len(rule.body)) for rule in program.rules]
    [(1, 'far', 2)]
    """
    declarations, written = Declarations(), []
    for statement in statements(text):
        if statement.kind == "rule":
            written.append(statement)
        else:
            declarations.add(statement)
    if len(written) > _MOST_RULES:
        raise RuleError("E002", f"a program may have {_MOST_RULES} rules, this one has {len(written)}")
    return Program(
        predicates=declarations.predicates,
        rules=spell_out(_rule(statement, number, declarations.names) for number, statement in enumerate(written, 1)),
        outputs=tuple(declarations.outputs),
        functions=declarations.functions,
        functors=declarations.functors,
        constants=declarations.constants,
        spatial=tuple(declarations.spatial),
        limits=Limits(**declarations.limits),
        text=text,
    )


def _rule(statement: Statement, number: int, names: Names) -> Rule:
    reader = Reader(names, statement.location, number)
    head, *rest = (child for child in statement.tree.children if not isinstance(child, str))
    asked = [child for body in rest for child in body.children if not isinstance(child, str)]
    body = tuple(subgoal for tree in asked for subgoal in reader.subgoals(tree))
    if len(body) > _MOST_SUBGOALS:
        raise RuleError(
            "E002", f"a rule may have {_MOST_SUBGOALS} subgoals", "cut it in two", number, statement.location
        )
    rule = Rule(reader.head(head), body, number, statement.text, statement.location)
    _refuse_bare_variables(rule)
    return rule


def _refuse_bare_variables(rule: Rule) -> None:
    """A name alone is a predicate without columns; where it is a variable elsewhere in the rule, that was not meant."""
    named = {variable.name for part in (rule.head, *rule.body) for variable in variables_of(part)}
    for subgoal in rule.body:
        if isinstance(subgoal, Atom) and not subgoal.arguments and subgoal.predicate in named:
            name = subgoal.predicate
            message, fix = f"variable {name!r} is no subgoal", f"compare it: {name} = TRUE"
            raise RuleError("E001", message, fix, rule.number, subgoal.location)
