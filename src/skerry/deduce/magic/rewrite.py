"""Rules rewritten for a question: a predicate is derived only for the values that are asked of it.

For ``path(1, x)`` and the rule ``path(x, z) :- path(x, y), edge(y, z)`` these come to be, where ``bf`` says that the
first argument is given and the second open:

    magic path bf(1).
    path bf(x, z) :- magic path bf(x), path bf(x, y), edge(y, z).

What is bound goes from left to right. Where an atom is asked for in the middle of a body, a supplementary predicate
holds what the subgoals before it give, so that this is derived once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from skerry.deduce.subgoal_order import variables_of
from skerry.model.term import Term, Variable, is_pattern, variables
from skerry.plan.program import Atom, Comparison, Predicate, Program, Rule, Subgoal

__all__ = ["Rewriting"]


class Rewriting:
    """Rewrites one program; ``whole`` names the predicates that stay as they are."""

    def __init__(self, program: Program, whole: Iterable[str]) -> None:
        self._program, self._whole = program, set(whole)
        self._rules: list[Rule] = []
        self._waiting: list[tuple[str, str]] = []
        self._begun: set[tuple[str, str]] = set()
        self._kept: set[str] = set()

    def is_open(self, predicate: str) -> bool:
        """Whether a predicate can be derived in part."""
        derived = any(rule.head.predicate == predicate for rule in self._program.rules)
        return derived and predicate not in self._whole

    def program(self, question: Atom) -> tuple[str, Program]:
        """The predicate of the answers, and the rules for it."""
        terms = cast(tuple[Term, ...], question.arguments)
        pattern = "".join("f" if isinstance(term, Variable) else "b" for term in terms)
        self._ask(question.predicate, pattern)
        self._add(_magic(question.predicate, pattern, terms), ())
        while self._waiting:
            predicate, bound = self._waiting.pop()
            for rule in self._program.rules:
                if rule.head.predicate == predicate:
                    self._rewrite(rule, bound)
        self._keep()
        program = replace(self._program, predicates=self._declare(), rules=_number_rules(self._rules))
        return _adorn(question.predicate, pattern), program

    def _ask(self, predicate: str, bound: str) -> None:
        if (predicate, bound) not in self._begun:
            self._begun.add((predicate, bound))
            self._waiting.append((predicate, bound))

    def _add(self, head: Atom, body: Sequence[Subgoal]) -> None:
        self._rules.append(Rule(head, tuple(body), 0))

    def _rewrite(self, rule: Rule, bound: str) -> None:
        """Derive a rule's head for what is asked of it, and ask for what its body needs."""
        head = cast(tuple[Term, ...], rule.head.arguments)
        given = _magic(rule.head.predicate, bound, [term if is_pattern(term) else Variable("_") for term in head])
        part = _Part(rule, [given], _names([given]), list(rule.body))
        for index, atom in enumerate(subgoal for subgoal in rule.body if _is_relational(subgoal)):
            part.take_tests()
            part.waiting.remove(atom)
            rewritten = self._rewrite_atom(cast(Atom, atom), part, index, bound)
            part.body.append(rewritten)
            part.bound |= _names([atom])
        self._add(replace(rule.head, predicate=_adorn(rule.head.predicate, bound)), [*part.body, *part.waiting])
        self._kept |= {subgoal.predicate for subgoal in rule.body if isinstance(subgoal, Atom) and subgoal.negated}

    def _rewrite_atom(self, atom: Atom, part: "_Part", index: int, asked: str) -> Atom:
        """An atom as it stands in the new body; what is known by then goes into a supplementary predicate."""
        terms = cast(tuple[Term, ...], atom.arguments)
        bound = "".join("b" if part.bound.issuperset(_names([term])) and _is_known(term) else "f" for term in terms)
        if not self.is_open(atom.predicate) or "b" not in bound:
            self._kept.add(atom.predicate)
            return atom
        self._ask(atom.predicate, bound)
        if len(part.body) > 1:
            supplementary = part.supplementary(f"{_adorn(part.rule.head.predicate, asked)} {part.rule.number}.{index}")
            self._add(supplementary, part.body)
            part.body = [supplementary]
        wanted = _magic(atom.predicate, bound, terms)
        if part.body != [wanted]:
            self._add(wanted, part.body)
        return replace(atom, predicate=_adorn(atom.predicate, bound))

    def _keep(self) -> None:
        """Add the rules of all predicates that are needed as a whole."""
        waiting, done = set(self._kept), set[str]()
        while waiting:
            name = waiting.pop()
            done.add(name)
            for rule in self._program.rules:
                if rule.head.predicate == name:
                    self._rules.append(rule)
                    waiting |= {each.predicate for each in rule.body if isinstance(each, Atom)} - done
        self._kept = done

    def _declare(self) -> dict[str, Predicate]:
        declared = {name: each for name, each in self._program.predicates.items() if name in self._kept}
        for predicate, bound in self._begun:
            if predicate in self._program.predicates:
                name = _adorn(predicate, bound)
                declared[name] = replace(self._program.predicates[predicate], name=name)
        return declared


@dataclass
class _Part:
    """How far a rule is rewritten: its new body, the variables bound by it, and the subgoals still to come."""

    rule: Rule
    body: list[Subgoal]
    bound: set[str]
    waiting: list[Subgoal] = field(default_factory=list)

    def take_tests(self) -> None:
        """Move the tests and equations that can be carried out by now into the body."""
        moved = True
        while moved:
            ready = [each for each in self.waiting if not _is_relational(each) and self._is_ready(each)]
            for subgoal in ready:
                self.waiting.remove(subgoal)
                self.body.append(subgoal)
                self.bound |= _names([subgoal])
            moved = bool(ready)

    def _is_ready(self, subgoal: Subgoal) -> bool:
        """Whether all is bound, ``_`` under NOT left out, or one side is a variable that the other gives."""
        if _names([subgoal]) <= self.bound:
            return True
        if not isinstance(subgoal, Comparison) or subgoal.operator != "=":
            return False
        sides = ((subgoal.left, subgoal.right), (subgoal.right, subgoal.left))
        return any(is_pattern(one) and _names([other]) <= self.bound for one, other in sides)

    def supplementary(self, name: str) -> Atom:
        """An atom with the variables that are bound by now and needed later."""
        later = _names([self.rule.head, *self.waiting]) | _names(self._asked)
        return Atom(f"supplementary {name}", tuple(Variable(each) for each in sorted(self.bound & later)))

    @property
    def _asked(self) -> list[Subgoal]:
        """The relational subgoals, of which the one in hand is no longer among those that wait."""
        return [subgoal for subgoal in self.rule.body if _is_relational(subgoal)]


def _adorn(predicate: str, bound: str) -> str:
    return f"{predicate} {bound}"


def _magic(predicate: str, bound: str, terms: Sequence[Term]) -> Atom:
    chosen = tuple(term for term, letter in zip(terms, bound, strict=True) if letter == "b")
    return Atom(f"magic {_adorn(predicate, bound)}", chosen)


def _is_relational(subgoal: Subgoal) -> bool:
    return isinstance(subgoal, Atom) and not subgoal.negated


def _is_known(term: Term) -> bool:
    return not any(variable.name == "_" for variable in variables(term))


def _names(parts: Iterable[Subgoal | Term]) -> set[str]:
    found = set[str]()
    for part in parts:
        inside = variables_of(part) if isinstance(part, Subgoal) else variables(part)
        found |= {variable.name for variable in inside if variable.name != "_"}
    return found


def _number_rules(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    return tuple(replace(rule, number=number) for number, rule in enumerate(rules, 1))
