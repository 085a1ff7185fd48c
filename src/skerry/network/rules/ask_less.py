"""NOT asks less: of what a negated atom stands for, a rule knows a part already, and only the rest is asked.

``h(x, y, d+1) :- g(x, y), j(x, d), NOT n(y, d+1)`` with ``n(y, d+1) :- j(y, e), d+1 > e, j(x, d), g(x, y)``: the rule
has found ``j(x, d), g(x, y)`` itself. So n holds if and only if some ``j(y, e)`` with ``d+1 > e`` does, which the home
of those tuples can say alone. No tuple of n has to be sent, or even be derived, unless something else needs it.

The body of n's rule falls into parts that share no variable but those of its head. A part that the asking rule's own
body contains is true whenever NOT is asked. If exactly one part with one atom is left, that is what is denied.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from skerry.deduce.subgoal_order import variables_of
from skerry.model.term import Arithmetic, Constant, Term, Variable, variables
from skerry.network.rules.node_program import Denial, NodeRule, Schema
from skerry.network.rules.whole_terms import is_whole, normalise, substitute, substitute_term
from skerry.plan.program import Aggregate, Atom, Comparison, Subgoal, Type

__all__ = ["ask_less"]

_Names = dict[str, Term]


def ask_less(rules: Sequence[NodeRule], schemas: Mapping[str, Schema]) -> list[NodeRule]:
    """The same rules, with every NOT replaced by what is left of it, where that can be."""
    return [replace(rule, denials=tuple(_shorten(rule, rules, schemas))) for rule in rules]


def _shorten(rule: NodeRule, rules: Sequence[NodeRule], schemas: Mapping[str, Schema]) -> Iterator[Denial]:
    for denial in rule.denials:
        name = denial.atom.predicate
        own = [each for each in rules if each.head.predicate == name]
        plain = schemas[name].known is None and schemas[name].span is None and not schemas[name].limits
        if not own or not plain or any(each.denials or each.aggregates or each.ranges for each in own):
            yield denial
            continue
        found = [_Question(rule, denial.atom, each, schemas).find_rest() for each in own]
        rest = [each for each in found if each is not None]
        yield from rest if len(rest) == len(found) else (denial,)


class _Question:
    """One NOT of a rule, and one of the rules that derive what it asks for."""

    def __init__(self, rule: NodeRule, asked: Atom, deriving: NodeRule, schemas: Mapping[str, Schema]) -> None:
        self._rule, self._asked, self._schemas = rule, asked, schemas
        self._defined = _find_definitions(rule)
        self._bound = {each.name for part in (*rule.positives, *rule.conditions) for each in variables_of(part)}
        body = (*deriving.positives, *deriving.conditions)
        names: _Names = {
            each.name: Variable(f"${each.name}.{deriving.number}")
            for part in (deriving.head, *body)
            for each in variables_of(part)
        }
        self._head = substitute(deriving.head, names)
        self._body = [substitute(part, names) for part in body]

    def find_rest(self) -> Denial | None:
        """What is left to ask; None if NOT has to be asked as it is."""
        known = self._match_head()
        if known is None:
            return None
        parts = [part for part in self._list_parts(self._solve(known)) if not self._is_contained(part)]
        open_parts = [part for part in parts if any(map(self._list_open, part))]
        atoms = [each for part in parts for each in part if isinstance(each, Atom)]
        if len(open_parts) > 1 or len(atoms) != 1:
            return None
        return self._deny(atoms[0], [each for part in parts for each in part if not isinstance(each, Atom)])

    def _match_head(self) -> _Names | None:
        """What the head's variables stand for in the asking rule, if types leave no doubt."""
        known: _Names = {}
        types = self._schemas[self._asked.predicate].types
        for asked, given, kind in zip(self._asked.arguments, self._head.arguments, types, strict=True):
            if isinstance(asked, Aggregate) or isinstance(given, Aggregate):
                return None
            if isinstance(given, Variable) and given.name not in known and self._are_whole(asked, given, kind):
                known[given.name] = asked
            elif asked != given:
                return None
        return known

    def _are_whole(self, asked: Term, given: Term, kind: Type) -> bool:
        atoms = [each for each in self._body if isinstance(each, Atom)]
        conditions = [each for each in self._body if isinstance(each, Comparison)]
        return is_whole(given, atoms, conditions, self._schemas, kind) and is_whole(
            asked, self._rule.positives, self._rule.conditions, self._schemas, kind
        )

    def _solve(self, known: _Names) -> list[Subgoal]:
        """The body in the asking rule's words: what follows from the head by equations is replaced by it."""
        body = [substitute(part, known) for part in self._body]
        atoms = [each for each in body if isinstance(each, Atom)]
        for equation in [each for each in body if isinstance(each, Comparison) and each.operator == "="]:
            for side, other in ((equation.left, equation.right), (equation.right, equation.left)):
                unknown, offset = normalise(side)
                if not isinstance(unknown, Variable) or unknown.name in self._bound:
                    continue
                if _is_bound(other, self._bound) and is_whole(unknown, atoms, (), self._schemas, None):
                    value = self._define(Arithmetic("-", other, Constant(offset)))
                    rest = [substitute(part, {unknown.name: value}) for part in body if part != equation]
                    return self._replace_body(rest)
        return body

    def _replace_body(self, body: Sequence[Subgoal]) -> list[Subgoal]:
        self._body = list(body)
        return self._solve({})

    def _define(self, term: Term) -> Term:
        """A term without variables that are only names of others, as short as can be."""
        base, offset = normalise(substitute_term(term, self._defined))
        if base is None:
            return Constant(offset)
        return base if not offset else Arithmetic("+", base, Constant(offset))

    def _list_open(self, part: Subgoal) -> list[str]:
        return [each.name for each in variables_of(part) if each.name not in self._bound]

    def _list_parts(self, body: Sequence[Subgoal]) -> list[list[Subgoal]]:
        """Subgoals that share open variables, together."""
        parts: list[tuple[set[str], list[Subgoal]]] = []
        for subgoal in body:
            names, members = set(self._list_open(subgoal)), [subgoal]
            for part in [each for each in parts if each[0] & names]:
                parts.remove(part)
                names, members = names | part[0], [*part[1], *members]
            parts.append((names, members))
        return [members for _, members in parts]

    def _is_contained(self, part: Sequence[Subgoal]) -> bool:
        """Whether the asking rule's body has all of it, with something in place of the open variables."""
        atoms = [each for each in part if isinstance(each, Atom)]
        rest = [each for each in part if not isinstance(each, Atom)]
        return any(
            all(self._is_condition(substitute(each, names)) for each in rest) for names in self._fit_all(atoms, {})
        )

    def _fit_all(self, atoms: Sequence[Atom], names: _Names) -> Iterator[_Names]:
        if not atoms:
            yield names
            return
        for own in self._rule.positives:
            found = self._fit(atoms[0], own, names) if own.predicate == atoms[0].predicate else None
            if found is not None:
                yield from self._fit_all(atoms[1:], found)

    def _fit(self, atom: Atom, own: Atom, names: _Names) -> _Names | None:
        found = dict(names)
        for term, given in zip(atom.arguments, own.arguments, strict=True):
            if isinstance(term, Aggregate) or isinstance(given, Aggregate):
                return None
            if isinstance(term, Variable) and term.name not in self._bound:
                term = found.setdefault(term.name, given)
            if self._define(term) != self._define(given):
                return None
        return found

    def _is_condition(self, asked: Subgoal) -> bool:
        if not isinstance(asked, Comparison):
            return asked in self._rule.conditions
        sides = self._define(asked.left), self._define(asked.right)
        return any(
            isinstance(each, Comparison)
            and each.operator == asked.operator
            and (self._define(each.left), self._define(each.right)) == sides
            for each in self._rule.conditions
        )

    def _deny(self, atom: Atom, conditions: list[Subgoal]) -> Denial | None:
        """A denial, if one mote knows all tuples of its atom."""
        schema, arguments = self._schemas[atom.predicate], list[Term]()
        for index, term in enumerate(atom.arguments):
            assert not isinstance(term, Aggregate)
            if isinstance(term, Arithmetic):
                computed = Variable(f"$v{index}.{self._rule.number}")
                conditions = [*conditions, Comparison("=", computed, term)]
                term = computed
            arguments.append(term)
        denied = Denial(replace(atom, arguments=tuple(arguments)), tuple(conditions), tuple(sorted(self._bound)))
        columns = schema.keys if schema.host is None else (schema.host,)
        named = all(
            isinstance(arguments[each], Constant) or _is_bound(arguments[each], self._bound) for each in columns
        )
        return replace(denied, given=_list_given(denied, self._bound)) if schema.known is None and named else None


def _is_bound(term: Term, bound: set[str]) -> bool:
    return all(each.name in bound for each in variables(term))


def _list_given(denial: Denial, bound: set[str]) -> tuple[str, ...]:
    used = {each.name for part in (denial.atom, *denial.conditions) for each in variables_of(part)}
    return tuple(sorted(used & bound))


def _find_definitions(rule: NodeRule) -> _Names:
    """The variables of a rule that no atom binds and an equation names: what they stand for."""
    joined = {each.name for atom in rule.positives for each in variables_of(atom)}
    found: _Names = {}
    for condition in rule.conditions:
        if isinstance(condition, Comparison) and condition.operator == "=":
            for name, term in ((condition.left, condition.right), (condition.right, condition.left)):
                closed = all(each.name in joined for each in variables(term))
                if isinstance(name, Variable) and name.name not in joined and closed:
                    found[name.name] = term
    return found
