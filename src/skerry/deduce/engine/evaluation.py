"""What terms stand for, for many bindings at once."""

from collections.abc import Mapping, Sequence

import numpy as np

from skerry.deduce.engine.bindings import Bindings, Setting
from skerry.deduce.engine.calculation import calculate_columns
from skerry.deduce.engine.encoding import Kind, Vector, both, distinct, kind_of
from skerry.deduce.evaluate import Evaluator, match_pattern
from skerry.deduce.values import Row
from skerry.model.arrays import Bools, Int64s
from skerry.model.term import Arithmetic, Call, Constant, Duration, Term, Terms, Value, Variable, variables
from skerry.plan.program import Type, in_units

__all__ = ["Evaluation", "Types", "type_of"]

Types = Mapping[str, Type]

_TYPES: Mapping[type, Type] = {bool: Type.BOOL, int: Type.INT, float: Type.FLOAT, str: Type.STRING, tuple: Type.LIST}


def type_of(setting: Setting, term: Term, types: Types) -> Type:
    """The type of a term's values, or ``any``."""
    match term:
        case Variable(name):
            return types[name]
        case Constant(value):
            return _TYPES.get(type(value), Type.ANY)
        case Duration():
            return Type.INT
        case Call(name):
            return setting.program.functions[name].result or Type.BOOL
        case Terms(_, None):
            return Type.LIST
        case Arithmetic(operator, left, right):
            found = type_of(setting, left, types), type_of(setting, right, types)
            if operator == "+" and found == (Type.STRING, Type.STRING):
                return Type.STRING
            kinds = kind_of(found[0]), kind_of(found[1])
            if set(kinds) <= {Kind.INT, Kind.FLOAT}:
                return Type.INT if kinds == (Kind.INT, Kind.INT) and operator != "/" else Type.FLOAT
    return Type.ANY


class Evaluation:
    """Works terms out. The types of variables are known before."""

    def __init__(self, setting: Setting) -> None:
        self._setting, self._encoding = setting, setting.encoding
        self._evaluator = Evaluator(setting.calls, setting.unit)

    def vector(self, term: Term, bindings: Bindings, types: Types) -> Vector:
        """A term's value for each binding."""
        match term:
            case Variable(name):
                return Vector(bindings.columns[name], types[name])
            case Constant(value):
                return self._repeat(value, bindings.count)
            case Duration(microseconds):
                return self._repeat(in_units(microseconds, self._setting.unit), bindings.count)
            case Arithmetic(operator, left, right):
                first, second = self.vector(left, bindings, types), self.vector(right, bindings, types)
                found = calculate_columns(self._encoding, operator, first, second)
                if found.type is not Type.ANY:
                    return found
                return self._encoding.convert_to_store(found, type_of(self._setting, term, types))
            case Call(name, arguments):
                return self._call(name, arguments, bindings, types)
        return self._compose(term, bindings, types)

    def ask(self, name: str, arguments: Sequence[Term], bindings: Bindings, types: Types) -> Vector:
        """What a built-in predicate says of each binding."""
        return self._call(name, arguments, bindings, types)

    def take_apart(self, pattern: Term, vector: Vector) -> tuple[Mapping[str, Int64s], Vector]:
        """The values of a pattern's variables, all of type ``any``; and where the pattern fits."""
        names = list(dict.fromkeys(each.name for each in variables(pattern)))
        different, which = np.unique(vector.codes, return_inverse=True)
        found = [match_pattern(pattern, value, {}) for value in self._encoding.decode(different, vector.type)]
        fits = np.array([each is not None for each in found], np.bool_)[which]
        columns = {
            name: self._encoding.encode([0 if each is None else each[name] for each in found], Type.ANY).codes[which]
            for name in names
        }
        return columns, Vector(vector.codes, vector.type, both(vector.valid, fits))

    def _repeat(self, value: Value, count: int) -> Vector:
        type_ = _TYPES.get(type(value), Type.ANY)
        code = value if type_ is Type.INT else self._encoding.encode([value], type_).codes[0]
        return Vector(np.full(count, code, np.int64), type_)

    def _call(self, name: str, arguments: Sequence[Term], bindings: Bindings, types: Types) -> Vector:
        rows, which = self._rows(arguments, bindings, types)
        declared = self._setting.program.functions[name]
        valid = [row for row in rows if row is not None]
        answers = iter(self._setting.calls.call(name, valid))
        found = [None if row is None else next(answers) for row in rows]
        return _expand(self._encoding.encode(found, declared.result or Type.BOOL), which)

    def _compose(self, term: Terms, bindings: Bindings, types: Types) -> Vector:
        names = list(dict.fromkeys(variables(term)))
        rows, which = self._rows(names, bindings, types)
        assignments = ({each.name: value for each, value in zip(names, row or (), strict=True)} for row in rows)
        values = [self._evaluator.value(term, binding) for binding in assignments]
        return _expand(self._encoding.encode(values, Type.ANY if term.name else Type.LIST), which)

    def _rows(self, terms: Sequence[Term], bindings: Bindings, types: Types) -> tuple[list[Row | None], Int64s]:
        """The different rows of values of some terms, None where one has none; and for each binding which it has."""
        if not terms:
            return [()], np.zeros(bindings.count, np.int64)
        vectors = [self.vector(term, bindings, types) for term in terms]
        valid: Bools | None = None
        for vector in vectors:
            valid = both(valid, vector.valid)
        keys = [vector.codes for vector in vectors] + ([] if valid is None else [valid.astype(np.int64)])
        firsts, which = distinct(keys)
        columns = [self._encoding.decode(vector.codes[firsts], vector.type) for vector in vectors]
        rows: list[Row | None] = list(zip(*columns, strict=True))
        if valid is not None:
            rows = [row if defined else None for row, defined in zip(rows, valid[firsts].tolist(), strict=True)]
        return rows, which


def _expand(found: Vector, which: Int64s) -> Vector:
    return Vector(found.codes[which], found.type, None if found.valid is None else found.valid[which])
