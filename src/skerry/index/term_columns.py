"""The terms of one part of a form, for many predicates at once: made once per distinct constants, put in columns."""

from collections.abc import Callable, Hashable, Sequence

import numpy as np

from skerry.index.disjunctive_form import Term, Terms
from skerry.index.form import Form
from skerry.index.value_set_column import Uneven, ValueSetColumn, number_kinds
from skerry.model.arrays import Int64s

__all__ = ["gather_terms"]


def gather_terms(form: Form, indexes: Sequence[int] | None, find: Callable[[], Terms]) -> Terms:
    """Terms with columns for sets. ``indexes`` says which constants the part has; None if they do not say all.

    ``find`` makes the terms of a part that is about one operand, of the constants that the form holds at the time.
    """
    if indexes is None:
        raise Uneven
    codes, firsts = _number_rows(form, indexes)
    counts = np.bincount(codes, minlength=len(firsts)).tolist()
    found = []
    for row, count in zip(firsts, counts, strict=True):
        form.take_row(row, count)
        found.append(find())
    shapes = [_shape_of(terms) for terms in found]
    if shapes.count(shapes[0]) != len(shapes):
        raise Uneven(np.array(number_kinds(shapes)[0], np.int64)[codes])
    if not found[0] or not found[0][0].sides:
        return found[0]
    ((operand, _),) = found[0][0].sides.items()
    return (Term({operand: ValueSetColumn.gather([terms[0].sides[operand] for terms in found], codes)}),)


def _number_rows(form: Form, indexes: Sequence[int]) -> tuple[Int64s, list[int]]:
    """By row a number for its constants, and by number the first row."""
    columns = [form.columns[index] for index in indexes]
    if not columns:
        return np.zeros(form.row_count, np.int64), [0]
    codes, firsts = number_kinds(columns[0] if len(columns) == 1 else zip(*columns, strict=True))
    return np.array(codes, np.int64), firsts


def _shape_of(terms: Terms) -> Hashable:
    """What must be alike for terms to be put in columns: the operand, how many spans, and whether NULL is in."""
    if not terms:
        return None
    return tuple((operand, len(values.spans), values.null) for operand, values in terms[0].sides.items())
