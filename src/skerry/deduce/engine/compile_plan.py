"""Compiles a plan to an array of numbers, which ``kernels.rules.plan_interpreter`` walks binding by binding.

Not every plan can be compiled. Whole numbers can be added, subtracted, multiplied and compared, truth values compared,
strings tested for equality, and all values looked up as they are. Lists, arithmetic on floats, and built-ins need
Python.
"""

from collections.abc import Sequence

import numpy as np

from skerry.deduce.engine.encoding import Kind, kind_of
from skerry.deduce.engine.plan import Plan
from skerry.deduce.engine.relation import KEPT
from skerry.deduce.engine.steps import Absent, Assign, Compare, Key, Match, Present, Same
from skerry.kernels.rules.checked_arithmetic import SIGNS
from skerry.kernels.rules.plan_interpreter import EQUAL, GREATER, LESS, Step
from skerry.model.arrays import Int64s
from skerry.model.term import Arithmetic, Constant, Duration, Term, Variable
from skerry.plan.program import Type, in_units

__all__ = ["compile_plan"]

_COMPARISONS = {
    "=": EQUAL,
    "!=": LESS | GREATER,
    "<": LESS,
    "<=": LESS | EQUAL,
    ">": GREATER,
    ">=": GREATER | EQUAL,
}


class _NotCompilable(Exception):
    """A plan that needs Python."""


def compile_plan(plan: Plan) -> Int64s | None:
    """A plan as numbers, or None if it cannot be compiled."""
    try:
        return _Compiler(plan).compile()
    except _NotCompilable:
        return None


class _Compiler:
    """Compiles one plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan, self._encoding, self._unit = plan, plan.setting.encoding, plan.setting.unit
        self._names: dict[str, int] = {}
        self._instructions: list[int] = []
        self._registers: list[int] = []
        """What the registers hold at the beginning: constants stay there."""

    def compile(self) -> Int64s:
        """The instructions of the whole plan, then its registers."""
        unpack = self._plan.unpack
        given = [(self._bind_register(name), column) for name, column in unpack.names]
        constants = [(self._register(), column, code) for column, code in unpack.constants]
        taken = [*given, *((register, column) for register, column, _ in constants)]
        self._instructions += [0, 0, len(taken), *(number for pair in taken for number in pair)]
        for register, _, code in constants:
            self._compare(EQUAL, register, self._register_code(code))
        for step in self._plan.steps:
            self._write_step(step)
        head = [self._register_stored(term, type_) for term, type_ in self._plan.head]
        self._instructions += [Step.FOUND, len(head), *head]
        self._instructions[:2] = len(self._instructions), len(self._registers)
        return np.array(self._instructions + self._registers, np.int64)

    def _write_step(self, step: object) -> None:
        match step:
            case Match():
                self._match(step)
            case Present(relation, key, _, unchanged):
                self._look_up(relation.address, key, KEPT if unchanged else 0, negated=False)
            case Absent(relation, key):
                self._look_up(relation.address, key, 0, negated=True)
            case Assign(name=name, term=term, type=type_):
                self._names[name] = self._register_stored(term, type_)
            case Same(term=term, column=column, type=type_, stored=stored):
                found = self._register_stored(term, type_) if stored else self._register_sought(term, type_)
                self._compare(EQUAL, found, self._names[column])
            case Compare(operator=operator, left=left, right=right):
                self._write_comparison(operator, left, right)
            case _:
                raise _NotCompilable

    def _match(self, step: Match) -> None:
        keys = self._keys(step.key)
        bound = [(self._bind_register(name), column) for name, column in step.binds if name in step.keep]
        bits = KEPT if step.unchanged else 0
        addresses = step.relation.address, step.postings().address
        binds = [number for pair in bound for number in pair]
        self._step(Step.LIST, *addresses, bits, int(step.once), len(keys), *keys, len(bound), *binds)

    def _look_up(self, address: int, key: Key, bits: int, negated: bool) -> None:
        keys = self._keys(key)
        self._step(Step.ROW, address, bits, int(negated), len(keys), *keys)

    def _keys(self, key: Key) -> Sequence[int]:
        return [self._register_sought(term, type_) for term, type_ in zip(key.terms, key.types, strict=True)]

    def _write_comparison(self, operator: str, left: Term, right: Term) -> None:
        (first, first_type), (second, second_type) = self._value(left), self._value(right)
        kinds = {kind_of(first_type), kind_of(second_type)}
        strings = first_type is second_type is Type.STRING and operator in ("=", "!=")
        if not (kinds in ({Kind.INT}, {Kind.BOOL}) or strings):
            raise _NotCompilable
        self._compare(_COMPARISONS[operator], first, second)

    def _compare(self, signs: int, left: int, right: int) -> None:
        self._step(Step.COMPARE, signs, left, right)

    def _register_sought(self, term: Term, type_: Type) -> int:
        """The register of a term by whose value a column of a type is searched."""
        if isinstance(term, Constant):
            return self._register_code(self._encoding.constant_to_search(term.value, type_))
        register, found = self._value(term)
        if kind_of(found) is not kind_of(type_):
            raise _NotCompilable
        return register

    def _register_stored(self, term: Term, type_: Type) -> int:
        """The register of a term whose value a column of a type takes in."""
        if isinstance(term, Constant):
            return self._register_code(self._encoding.constant_to_store(term.value, type_))
        register, found = self._value(term)
        kind = kind_of(type_)
        if kind_of(found) is not kind or (kind is Kind.NUMBERED and type_ not in (found, Type.ANY)):
            raise _NotCompilable
        return register

    def _value(self, term: Term) -> tuple[int, Type]:
        """The register of a term, and its type; what has to be worked out is, before it is used."""
        match term:
            case Variable(name):
                return self._names[name], self._plan.known[name]
            case Duration(microseconds):
                return self._register(in_units(microseconds, self._unit)), Type.INT
            case Constant(bool() as value):
                return self._register(int(value)), Type.BOOL
            case Constant(int() as value):
                return self._register(value), Type.INT
            case Constant(str() as value):
                return self._register_code(self._encoding.constant_to_store(value, Type.STRING)), Type.STRING
            case Arithmetic(sign, left, right) if sign in SIGNS:
                return self._register_result(sign, left, right), Type.INT
        raise _NotCompilable

    def _register_result(self, sign: str, left: Term, right: Term) -> int:
        (first, first_type), (second, second_type) = self._value(left), self._value(right)
        if {kind_of(first_type), kind_of(second_type)} != {Kind.INT}:
            raise _NotCompilable
        target = self._register()
        self._step(Step.CALCULATE, SIGNS.index(sign), target, first, second)
        return target

    def _register_code(self, code: int | None) -> int:
        """The register of a code; if no column can hold it, nothing is found."""
        if code is None:
            raise _NotCompilable
        return self._register(code)

    def _bind_register(self, name: str) -> int:
        register = self._names[name] = self._register()
        return register

    def _register(self, code: int = 0) -> int:
        self._registers.append(code)
        return len(self._registers) - 1

    def _step(self, kind: Step, *numbers: int) -> None:
        self._instructions += [kind, len(self._instructions) + 2 + len(numbers), *numbers]
