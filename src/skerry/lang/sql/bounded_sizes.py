"""Functions that make something as large as a number says: the number is kept below a limit.

Where it is written out, it is checked. Where it is computed, a number above the limit counts as NULL, so that the
answer is NULL for that row, as it is for every expression that fails on a row.
"""

import re
from collections.abc import Callable, Mapping
from functools import partial

from sqlglot import exp

from skerry.errors import SqlError
from skerry.lang.sql.statements import location_of

__all__ = ["bound_reductions", "bound_sizes"]

_RANGES = ("generate_series", "range")
_REDUCTIONS = ("array_reduce", "list_reduce", "reduce")
_LARGEST = 1_000_000
"""How many characters or elements such a function makes at the most, and one around another too."""


def bound_sizes(tree: exp.Expr, is_span: Callable[[exp.Expr], bool]) -> exp.Expr:
    """The same expression, its sizes bounded. ``is_span`` tells of a part whether it is an INTERVAL."""
    sizes: dict[int, int] = {}
    for call in tree.find_all(exp.Anonymous):
        if call.name.lower() in _RANGES:
            sizes[id(call)] = _bound_range(call, is_span)
        elif call.name.lower() in _SIZES:
            sizes[id(call)] = _SIZES[call.name.lower()](call)
    for call in tree.find_all(exp.Anonymous) if len(sizes) > 1 else ():
        around, total = call.parent, sizes.get(id(call), 1)
        while around is not None:
            total *= sizes.get(id(around), 1)
            around = around.parent
        if total > _LARGEST:
            raise SqlError(f"functions inside each other make more than {_LARGEST} elements", location_of(call))
    return tree


def bound_reductions(tree: exp.Expr) -> list[exp.Expr]:
    """Ways to write an expression so that what a reduction hands on is bounded; none if there is no reduction.

    ``list_reduce(l, lambda a, x: a || a)`` doubles a text with each element. What is longer than the limit counts as
    NULL: by its own length, or by that of its text, where DuckDB knows no length of it.
    """
    calls = [call for call in tree.find_all(exp.Anonymous) if call.name.lower() in _REDUCTIONS]
    return [_bound_steps(tree.copy(), as_text=as_text) for as_text in (False, True)] if calls else []


def _bound_steps(tree: exp.Expr, *, as_text: bool) -> exp.Expr:
    for call in tree.find_all(exp.Anonymous):
        step = call.expressions[1] if call.name.lower() in _REDUCTIONS and len(call.expressions) > 1 else None
        if isinstance(step, exp.Lambda) and step.expressions:
            handed_on = step.expressions[0].copy()
            length = _call("len", exp.cast(handed_on, "VARCHAR") if as_text else handed_on)
            fits = exp.LTE(this=length, expression=exp.Literal.number(_LARGEST))
            step.set("this", exp.case().when(fits, step.this.copy()))
    return tree


def _refuse(call: exp.Expr, size: int) -> SqlError:
    message = f"{call.name.lower()!r} makes {_LARGEST} characters or elements at the most, and not {size}"
    return SqlError(message, location_of(call))


def _bound_argument(call: exp.Expr, position: int) -> int:
    """The size is an argument."""
    if len(call.expressions) <= position:
        return 1
    argument = call.expressions[position]
    size = _read_number(argument)
    if size is None:
        _replace_argument(call, position, exp.LTE(this=argument.copy(), expression=exp.Literal.number(_LARGEST)))
        return _LARGEST
    if size > _LARGEST:
        raise _refuse(call, size)
    return max(size, 1)


def _bound_range(call: exp.Expr, is_span: Callable[[exp.Expr], bool]) -> int:
    """The size is how many steps there are from the first argument to the second, numbers or times."""
    numbers = [_read_number(argument) for argument in call.expressions]
    known = [number for number in numbers if number is not None]
    if len(known) == len(numbers) and known:
        low, high = (0, known[0]) if len(known) == 1 else known[:2]
        size = abs(high - low) // max(abs(known[2]) if len(known) > 2 else 1, 1) + 1
        if size > _LARGEST:
            raise _refuse(call, size)
        return size
    parts: list[exp.Expr] = [exp.paren(argument.copy()) for argument in call.expressions]
    if len(parts) == 3 and is_span(call.expressions[2]):
        parts = [_call("epoch", part) for part in parts]
    position = min(len(parts) - 1, 1)
    count = _call("abs", parts[1] - parts[0] if position else parts[0])
    step = _call("abs", parts[2]) if len(parts) > 2 else exp.Literal.number(1)
    zero = exp.Literal.number(0)  # with steps of nothing, there are no elements
    steps = exp.Anonymous(this="coalesce", expressions=[count / exp.func("nullif", step, zero), zero.copy()])
    _replace_argument(call, position, exp.LTE(this=steps, expression=exp.Literal.number(_LARGEST)))
    return _LARGEST


def _bound_format(call: exp.Expr) -> int:
    """The sizes are numbers in a text; none may come from an argument."""
    pattern = call.expressions[0] if call.expressions else None
    text = pattern.name if isinstance(pattern, exp.Literal) and pattern.is_string else None
    if text is None or "*" in text or re.search(r"\{[^{}]*\{", text):
        message = "is available with a constant format, in which widths are written out"
        raise SqlError(f"{call.name.lower()!r} {message}", location_of(call))
    size = sum(int(digits) for digits in re.findall(r"\d+", text))
    if size > _LARGEST:
        raise _refuse(call, size)
    return max(size, 1)


def _replace_argument(call: exp.Expr, position: int, condition: exp.Expr) -> None:
    """NULL in place of an argument that is too large."""
    kept = exp.case().when(condition, call.expressions[position].copy())
    arguments = [*call.expressions[:position], kept, *call.expressions[position + 1 :]]
    call.set("expressions", arguments)


def _call(name: str, argument: exp.Expr) -> exp.Expr:
    return exp.Anonymous(this=name, expressions=[argument])


def _read_number(tree: exp.Expr) -> int | None:
    """A whole number that is written out."""
    bare = tree.unnest()
    if isinstance(bare, exp.Neg):
        inner = _read_number(bare.this)
        return None if inner is None else -inner
    is_whole = isinstance(bare, exp.Literal) and not bare.is_string and bare.name.isdigit()
    return int(bare.name) if is_whole else None


_SIZES: Mapping[str, Callable[[exp.Expr], int]] = {
    "array_resize": partial(_bound_argument, position=1),
    "bar": partial(_bound_argument, position=3),
    "bitstring": partial(_bound_argument, position=1),
    "format": _bound_format,
    "list_resize": partial(_bound_argument, position=1),
    "lpad": partial(_bound_argument, position=1),
    "printf": _bound_format,
    "repeat": partial(_bound_argument, position=1),
    "rpad": partial(_bound_argument, position=1),
}
