"""Regions of many predicates of one form at once: divided into those that are alike, each division made in one go."""

from collections.abc import Sequence

import numpy as np

from skerry.index.disjunctive_form import MOST_BOXES
from skerry.index.form import Constant, Form
from skerry.index.region import AlikeRegions
from skerry.index.region_from_predicate import RegionTemplate
from skerry.index.value_set_column import Uneven, number_kinds
from skerry.model.arrays import Bools, Int64s

__all__ = ["make_alike_regions"]

_FEWEST = 8
"""Fewer predicates than this are read one by one."""
_DEEPEST = 12
"""So often predicates are divided at the most."""


def make_alike_regions(
    template: RegionTemplate, form: Form, columns: Sequence[Sequence[Constant]], positions: Int64s
) -> tuple[list[AlikeRegions], list[int]]:
    """The regions of predicates whose constants are in columns; and the positions of those to be read one by one."""
    found: list[AlikeRegions] = []
    alone: list[int] = []
    waiting, short = [], _find_short(columns, positions.size)
    alone += positions[~short].tolist()
    waiting.append((np.flatnonzero(short), 0))
    while waiting:
        rows, depth = waiting.pop()
        try:
            if rows.size < _FEWEST or depth > _DEEPEST:
                raise Uneven
            chosen = columns if rows.size == positions.size else _choose_rows(columns, rows)
            with form.filled_with(chosen, rows.size):
                if not depth:
                    _divide_by_lengths(chosen)
                region = template.make_region()
            found.append(AlikeRegions(positions[rows], region))
        except Uneven as uneven:
            if uneven.kinds is None:
                alone += positions[rows].tolist()
            else:
                waiting += [(rows[part], depth + 1) for part in _split_kinds(uneven.kinds)]
    return found, alone


def _choose_rows(columns: Sequence[Sequence[Constant]], rows: Int64s) -> list[list[Constant]]:
    chosen = rows.tolist()
    return [[column[row] for row in chosen] for column in columns]


def _find_short(columns: Sequence[Sequence[Constant]], count: int) -> Bools:
    """Which predicates have no list that is too long for boxes."""
    short = np.ones(count, np.bool_)
    for column in columns:
        if column and not isinstance(column[0], str):
            short &= np.array([len(constant) for constant in column]) <= MOST_BOXES
    return short


def _divide_by_lengths(columns: Sequence[Sequence[Constant]]) -> None:
    """Let predicates with lists of other lengths go apart before any set is made of them."""
    lengths = [[len(constant) for constant in column] for column in columns if not isinstance(column[0], str)]
    kinds, firsts = number_kinds(zip(*lengths, strict=True))
    if len(firsts) > 1:
        raise Uneven(np.array(kinds, np.int64))


def _split_kinds(kinds: Int64s) -> list[Int64s]:
    """The rows of each kind."""
    order = np.argsort(kinds, kind="stable")
    _, firsts = np.unique(kinds[order], return_index=True)
    return np.split(order, firsts[1:])
