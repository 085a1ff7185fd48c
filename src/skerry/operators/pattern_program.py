"""A pattern, compiled into the steps that the kernel follows."""

import numpy as np

from skerry.kernels.sequences import DONE, END, JUMP, SPLIT, TAKE, Program
from skerry.plan.pattern import Chain, Choice, End, Pattern, Repeat, Symbol

__all__ = ["compile_pattern", "count_steps"]

_Step = tuple[int, int, int]


def compile_pattern(pattern: Pattern) -> Program:
    """The program of a pattern.

    >>> compile_pattern(Repeat(Symbol(0), 1, None)).actions.tolist()
    [0, 1, 0, 2, 4]
    """
    steps = [*_compile(pattern, 0), (DONE, 0, 0)]
    actions, firsts, seconds = (np.array(column, np.int64) for column in zip(*steps, strict=True))
    return Program(actions, firsts, seconds)


def count_steps(pattern: Pattern) -> int:
    """How long the program is, without making it."""
    match pattern:
        case Repeat(part, least, most):
            times = least + (1 if most is None else most - least)
            return times * (count_steps(part) + 2)
        case Choice(parts) | Chain(parts):
            return sum(map(count_steps, parts)) + 2 * len(parts)
        case _:
            return 1


def _compile(pattern: Pattern, at: int) -> list[_Step]:
    """The steps of a pattern that begin at an index; the next step follows behind them."""
    match pattern:
        case Symbol(number):
            return [(TAKE, number, 0)]
        case End():
            return [(END, 0, 0)]
        case Chain(parts):
            found: list[_Step] = []
            for part in parts:
                found += _compile(part, at + len(found))
            return found
        case Choice(parts):
            return _compile_choice(parts, at)
        case Repeat():
            return _compile_repeat(pattern, at)


def _compile_choice(parts: tuple[Pattern, ...], at: int) -> list[_Step]:
    """Each part but the last behind a SPLIT to the next; all end at one place."""
    if len(parts) == 1:
        return _compile(parts[0], at)
    first = _compile(parts[0], at + 1)
    behind = at + 1 + len(first) + 1
    rest = _compile_choice(parts[1:], behind)
    return [(SPLIT, at + 1, behind), *first, (JUMP, behind + len(rest), 0), *rest]


def _compile_repeat(pattern: Repeat, at: int) -> list[_Step]:
    found: list[_Step] = []
    for _ in range(pattern.least):
        found += _compile(pattern.part, at + len(found))
    if pattern.most is None:
        begin = at + len(found)
        body = _compile(pattern.part, begin + 1)
        behind = begin + 1 + len(body) + 1
        return [*found, _split(begin + 1, behind, pattern), *body, (JUMP, begin, 0)]
    sizes = len(_compile(pattern.part, 0))
    behind = at + len(found) + (pattern.most - pattern.least) * (sizes + 1)
    for _ in range(pattern.most - pattern.least):
        begin = at + len(found)
        found += [_split(begin + 1, behind, pattern), *_compile(pattern.part, begin + 1)]
    return found


def _split(again: int, behind: int, pattern: Repeat) -> _Step:
    return (SPLIT, behind, again) if pattern.reluctant else (SPLIT, again, behind)
