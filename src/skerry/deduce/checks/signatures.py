"""A declaration for every predicate: how many columns, what they are called, base or derived. E003 and E110."""

from collections.abc import Iterable, Mapping, Sequence

from skerry.errors import RuleError
from skerry.model.term import Arithmetic, Term, Variable, variables
from skerry.plan.program import Aggregate, Atom, Column, Output, Predicate, Program, Rule, Type

__all__ = ["find_outputs", "find_signatures"]


def find_signatures(program: Program, rules: Sequence[Rule]) -> dict[str, Predicate]:
    """The declared predicates, then the others by their first use. What is derived nowhere is base.

    Columns of undeclared predicates are called as the variables in them, and hold anything until types are found.
    """
    known = dict(program.predicates)
    derived = {rule.head.predicate for rule in rules}
    for rule in rules:
        _refuse_derived_base(rule, known)
        for atom in _atoms(rule):
            _look_at(atom, rule, known, derived)
    return _name_columns(known, (*program.rules, *rules[len(program.rules) :]))


def find_outputs(program: Program, predicates: Mapping[str, Predicate]) -> tuple[Output, ...]:
    """What a program tells: what it says, or if it says nothing, all that it derives."""
    asked = [("output", each.predicate, each.location) for each in program.outputs]
    asked += [("spatial", name, None) for each in program.spatial for name in (each.left, each.right)]
    for kind, name, location in asked:
        if name not in predicates:
            known = ", ".join(name for name in predicates if not name.startswith("$")) or "none"
            raise RuleError("E003", f"{kind} {name!r} is no predicate", f"the program has {known}", None, location)
    targets = [each.to or each.predicate for each in program.outputs]
    for output, target in zip(program.outputs, targets, strict=True):
        if targets.count(target) > 1:
            raise RuleError("E003", f"two outputs go to {target!r}", 'name one: to "other"', None, output.location)
    derived = (each.name for each in predicates.values() if not each.base and not each.name.startswith("$"))
    return program.outputs or tuple(Output(name) for name in derived)


def _atoms(rule: Rule) -> Iterable[Atom]:
    return (rule.head, *(subgoal for subgoal in rule.body if isinstance(subgoal, Atom)))


def _refuse_derived_base(rule: Rule, known: Mapping[str, Predicate]) -> None:
    name = rule.head.predicate
    if name in known and known[name].base:
        fix = f"declare it derived, or derive another predicate from {name}"
        raise RuleError("E003", f"{name!r} is base: its facts come from outside", fix, rule.number, rule.location)


def _look_at(atom: Atom, rule: Rule, known: dict[str, Predicate], derived: set[str]) -> None:
    name, arity = atom.predicate, len(atom.arguments)
    if name not in known:
        columns = tuple(Column("", Type.ANY) for _ in range(arity))
        known[name] = Predicate(name, columns, base=name not in derived, declared=False)
    if known[name].arity != arity:
        where = "is declared with" if known[name].declared else "is used before with"
        message = f"{name!r} {where} {known[name].arity} columns, here with {arity}"
        raise RuleError("E110", message, "give each column an argument", rule.number, atom.location or rule.location)


def _name_columns(known: dict[str, Predicate], written: Iterable[Rule]) -> dict[str, Predicate]:
    """Columns of undeclared predicates called by the atoms that say most, first those that name each column."""
    names: dict[str, list[str]] = {name: [""] * each.arity for name, each in known.items() if not each.declared}
    atoms = [
        (atom.predicate, [_name(argument) for argument in atom.arguments])
        for rule in written
        for atom in _atoms(rule)
        if atom.predicate in names and (atom is rule.head or known[atom.predicate].base)
    ]
    for predicate, given in sorted(atoms, key=lambda atom: "" in atom[1] or len(set(atom[1])) < len(atom[1])):
        _take_names(names[predicate], given)
    for name, found in names.items():
        columns = tuple(Column(each or _number_name(number, found), Type.ANY) for number, each in enumerate(found, 1))
        known[name] = Predicate(name, columns, known[name].base, declared=False)
    return known


def _number_name(number: int, taken: Sequence[str]) -> str:
    name = f"c{number}"
    while name in taken:
        name += "'"
    return name


def _take_names(names: list[str], given: Sequence[str]) -> None:
    for index, name in enumerate(given):
        if not names[index] and name not in names:
            names[index] = name


def _name(argument: Term | Aggregate) -> str:
    """What an argument would call its column: a variable, or the only one of a sum, or an aggregate."""
    if isinstance(argument, Aggregate):
        return argument.function
    found = {variable.name for variable in variables(argument)}
    name = found.pop() if isinstance(argument, Variable | Arithmetic) and len(found) == 1 else ""
    return "" if name.startswith(("$", "_")) else name
