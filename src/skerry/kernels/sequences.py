"""Sequences of rows that match a pattern: a program that tries its ways in order of preference.

A program is three arrays: what a step does, and its two arguments.

    TAKE symbol        the next row must be the symbol, and is taken
    SPLIT a b          go on at a; if that fails, at b
    JUMP a             go on at a
    END                there must be no next row within the span
    DONE               the rows taken are a match

A row that has not come yet, and may, makes a start undecided: what is preferred might follow from it.
"""

from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["DONE", "END", "JUMP", "NULL", "SPLIT", "TAKE", "Comparisons", "Found", "Program", "find_sequences"]

TAKE, SPLIT, JUMP, END, DONE = range(5)
NULL = -1
"""The code of a value that is compared with nothing."""
_LAST = 2**62
_DECIDED, _UNDECIDED, _EXHAUSTED = 0, 1, 2


class Program(NamedTuple):
    """A pattern, compiled."""

    actions: Int64s
    firsts: Int64s
    seconds: Int64s


class Comparisons(NamedTuple):
    """What a row of a symbol must be, compared with the first or last row of another symbol in the match.

    By comparison: the symbol, the operator (0 to 5: = <> < <= > >=), the other symbol, and whether its first row is
    meant. ``lefts`` and ``rights`` are codes by comparison and row.
    """

    symbols: Int64s
    operators: Int64s
    others: Int64s
    firsts: Int64s
    lefts: Int64s
    rights: Int64s


class Found(NamedTuple):
    """Matches: their first rows, how many rows each has, and the symbols of all; and where each group is undecided."""

    starts: Int64s
    lengths: Int64s
    symbols: Int64s
    pending: Int64s


def find_sequences(
    program: Program,
    bits: Int64s,
    times: Int64s,
    bounds: tuple[Int64s, Int64s, Int64s],
    comparisons: Comparisons,
    limits: tuple[int, int, int],
    *,
    skips_to_next: bool,
) -> Found | None:
    """The matches in each group of rows, the earliest first; None if a start needs more than the allowed steps.

    ``bits`` has by row the symbols that it may be. ``bounds`` are by group its first row, the first at which a match
    may start, and the row behind its last. ``limits`` are the span of a match (-1: none), the watermark, and how many
    steps a start may take. A start is decided at the latest when the watermark has passed its span.
    """
    if not bits.size == times.size or not bounds[0].size == bounds[1].size == bounds[2].size:
        raise KernelError("rows or groups differ in length:", bits.size, times.size, *(each.size for each in bounds))
    if comparisons.lefts.shape != comparisons.rights.shape:
        raise KernelError("codes differ in length:", comparisons.lefts.shape, comparisons.rights.shape)
    found = _find(*program, bits, times, bounds[1], bounds[2], *comparisons, *limits, skips_to_next)
    return Found(*found[:4]) if found[4] else None


@kernel
def _find(
    actions, firsts, seconds, bits, times, begins, stops,
    symbols, operators, others, of_first, lefts, rights,
    span_us, watermark, most_steps, skips_to_next,
):  # fmt: skip
    starts, lengths, taken = np.empty(16, np.int64), np.empty(16, np.int64), np.empty(64, np.int64)
    pending = np.empty(begins.size, np.int64)
    matches, total = 0, 0
    longest = 0
    for group in range(begins.size):
        longest = max(longest, stops[group] - begins[group])
    path = np.empty(longest + 1, np.int64)
    stack = np.empty((64, 2), np.int64)
    seen = np.full((actions.size, longest + 1), -1, np.int64) if symbols.size == 0 else np.empty((1, 1), np.int64)
    for group in range(begins.size):
        start, stop = begins[group], stops[group]
        while start < stop:
            is_over = watermark >= _LAST or (span_us >= 0 and times[start] + span_us < watermark)
            status, length = _DECIDED, 0
            depth, step, row, steps = 0, 0, start, 0
            while True:
                steps += 1
                if steps > most_steps:
                    status = _EXHAUSTED
                    break
                action, fails = actions[step], False
                if action == DONE:
                    length = row - start
                    break
                if symbols.size == 0 and action != JUMP:
                    if seen[step, row - start] == start:  # it was here before, and failed
                        fails = True
                    seen[step, row - start] = start
                if fails:
                    pass
                elif action == SPLIT:
                    if depth == stack.shape[0]:
                        wider = np.empty((2 * depth, 2), np.int64)
                        wider[:depth] = stack
                        stack = wider
                    stack[depth, 0], stack[depth, 1] = seconds[step], row
                    depth += 1
                    step = firsts[step]
                elif action == JUMP:
                    step = firsts[step]
                else:
                    is_within = row < stop and (span_us < 0 or times[row] - times[start] <= span_us)
                    if row >= stop and not is_over:
                        status = _UNDECIDED
                        break
                    if action == END:
                        fails = is_within
                        step += 0 if fails else 1
                    elif (
                        not is_within
                        or not (bits[row] >> firsts[step]) & 1
                        or not _compare(
                            firsts[step], row, start, path, symbols, operators, others, of_first, lefts, rights
                        )
                    ):
                        fails = True
                    else:
                        path[row - start] = firsts[step]
                        row += 1
                        step += 1
                if fails:
                    if depth == 0:
                        break
                    depth -= 1
                    step, row = stack[depth, 0], stack[depth, 1]
            if status == _EXHAUSTED:
                return starts[:matches], lengths[:matches], taken[:total], pending, False
            if status == _UNDECIDED:
                break
            if length > 0:
                if matches == starts.size:
                    starts, lengths = _double(starts), _double(lengths)
                while total + length > taken.size:
                    taken = _double(taken)
                starts[matches], lengths[matches] = start, length
                taken[total : total + length] = path[:length]
                matches += 1
                total += length
            start += 1 if length == 0 or skips_to_next else length
        pending[group] = start
    return starts[:matches], lengths[:matches], taken[:total], pending, True


@kernel
def _double(values):
    wider = np.empty(2 * values.size, np.int64)
    wider[: values.size] = values
    return wider


@kernel
def _compare(symbol, row, start, path, symbols, operators, others, of_first, lefts, rights):
    """Whether a row, as a symbol, meets what is asked of it and the rows taken before."""
    for number in range(symbols.size):
        if symbols[number] != symbol:
            continue
        other = -1
        for position in range(row - start):
            if path[position] == others[number]:
                other = start + position
                if of_first[number]:
                    break
        left = lefts[number, row]
        right = rights[number, other] if other >= 0 else NULL
        if left == NULL or right == NULL:
            return False
        operator = operators[number]
        if operator == 0 and left != right:
            return False
        if operator == 1 and left == right:
            return False
        if operator == 2 and not left < right:
            return False
        if operator == 3 and not left <= right:
            return False
        if operator == 4 and not left > right:
            return False
        if operator == 5 and not left >= right:
            return False
    return True
