"""Interprets a compiled plan binding by binding: from one given row to all that follows from it.

A compiled plan is one array of numbers: what it takes from the given row, its steps, and at the end its registers.

    begin        how many numbers before the registers, how many registers, how many taken, (register, column) ...
    LIST         after, rows, postings, bits, once, how many keys, register ..., how many bound, (register, column) ...
    ROW          after, rows, bits, negated, how many keys, register ...
    CALCULATE    after, sign, target, left, right
    COMPARE      after, signs, left, right
    FOUND        how many, register ...

``after`` is where the next step begins, ``rows`` and ``postings`` are addresses of headers, and ``bits`` the states in
which rows count (0: those wanted of the whole plan). Registers hold codes; constants have registers of their own. Lists
that are being followed stand on a stack, so that a walk can stop anywhere and be taken up again.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

from skerry.kernels._reference import inlined_kernel, inner_kernel
from skerry.kernels.array_address import array_at
from skerry.kernels.rules.checked_arithmetic import calculate, wraps
from skerry.kernels.rules.postings import NEXT, ListField
from skerry.kernels.rules.row_access import find_list, find_row
from skerry.kernels.rules.row_set import NONE, RowField
from skerry.model.arrays import Int64s

__all__ = [
    "ENDED",
    "EQUAL",
    "GREATER",
    "LESS",
    "PAUSED",
    "WRONG",
    "Machine",
    "Step",
    "Word",
    "begin",
    "go_on",
    "take_head",
]


ENDED, PAUSED, WRONG = -1, -2, -3
"""Why a walk stops before a binding: there is none, it has taken its time, or a number does not fit into 64 bits."""
LESS, EQUAL, GREATER = 1, 2, 4
"""What a comparison lets pass, added up."""
_ROW_FIELDS, _LIST_FIELDS = (len(RowField),), (len(ListField),)
_AT, _ROW, _LEFT = range(3)
_WIDEST, _DEEPEST = 256, 200
"""Columns of a predicate and subgoals of a rule: no program has more."""
_FEWEST = 64


class Step(IntEnum):
    """The kinds of steps."""

    LIST = 0
    ROW = 1
    CALCULATE = 2
    COMPARE = 3
    FOUND = 4


class Word(IntEnum):
    """What a machine notes in single numbers."""

    KEY = 0
    """Where a key is put together: an address."""
    WANT = 1
    """The bits that the state of a row must have."""
    PLAN = 2
    """Which plan is walked: an address."""
    AT = 3
    """Where in it a binding was found. Of a result that does not fit, the sign; its operands stand in the key."""
    DEPTH = 4
    """How many lists are being followed."""
    LOOKS = 5
    """How many more rows may be looked at before the clock is."""
    PHASE = 6
    """What is done with the row in hand, see ``kernels.rules.settle_stages``."""
    STAGE = 7
    RELATION = 8
    ROW = 9
    TURN = 10
    """Which of the relation's plans is walked."""
    WALK = 11
    """Whether it is under way."""
    WAITING = 12
    LOGGED = 13
    STAGES = 14
    """How many stages there were."""
    MOST_STAGES = 15
    MOST_TUPLES = 16
    LACKING = 17
    """The relation in which there is no room, or the proof of one tuple too many."""


class Machine(NamedTuple):
    """All that is needed to walk plans, and to settle stages with them (``kernels.rules.settle_stages``)."""

    relations: Int64s
    """By relation, what stands in ``RelationField``."""
    limits: Int64s
    """A column, and the greatest value that it may have."""
    proofs: Int64s
    """Plans from a row back to a derivation: addresses."""
    uses: Int64s
    """Plans from a changed row forward, as in ``Use``."""
    postings: Int64s
    """Of all relations: addresses of headers."""
    words: Int64s
    key: Int64s
    stack: Int64s
    """Lists that are being followed: the step, the next row, how many are left."""
    heap: Int64s
    """What waits, as in ``Heap``."""
    log: Int64s
    """What has waited: relation and row."""

    @classmethod
    def idle(cls, relations: Int64s, limits: Int64s, proofs: Int64s, uses: Int64s) -> "Machine":
        """A machine with nothing to do yet."""
        postings, words, key = np.empty(0, np.int64), np.zeros(len(Word), np.int64), np.empty(_WIDEST, np.int64)
        stack, heap, log = (np.empty(shape, np.int64) for shape in ((_DEEPEST, 3), (_FEWEST, 3), (_FEWEST, 2)))
        return cls(relations, limits, proofs, uses, postings, words, key, stack, heap, log)


@inner_kernel
def begin(machine, address, rows, row, want):
    """Begin a plan with a row of a set; where the first step is."""
    words, header = machine.words, array_at(rows, _ROW_FIELDS, np.int64)
    words[Word.PLAN], words[Word.WANT], words[Word.DEPTH] = address, want, 0
    size = array_at(address, (2,), np.int64)
    instructions = array_at(address, (size[0],), np.int64)
    registers = array_at(address + 8 * size[0], (size[1],), np.int64)
    _bind(instructions, registers, 2, header[RowField.CODES], header[RowField.WIDTH], row)
    return 3 + 2 * instructions[2]


@inner_kernel
def go_on(machine, at):
    """Walk from a step, or (``ENDED``) from the last list, to the next binding: where it is, or why there is none."""
    address = machine.words[Word.PLAN]
    size = array_at(address, (2,), np.int64)
    instructions = array_at(address, (size[0],), np.int64)
    registers = array_at(address + 8 * size[0], (size[1],), np.int64)
    while True:
        if at == ENDED:
            at = _follow(machine, instructions, registers)
            if at < 0:
                return at
        kind, after = instructions[at], instructions[at + 1]
        if kind == Step.FOUND:
            machine.words[Word.AT] = at
            return at
        if kind == Step.LIST:
            _open(machine, instructions, registers, at)
            at = ENDED
        elif kind == Step.ROW:
            at = after if _holds(machine, instructions, registers, at) else ENDED
        elif kind == Step.COMPARE:
            left, right = registers[instructions[at + 3]], registers[instructions[at + 4]]
            case = LESS if left < right else EQUAL if left == right else GREATER
            at = after if instructions[at + 2] & case else ENDED
        else:
            sign, left, right = instructions[at + 2], registers[instructions[at + 4]], registers[instructions[at + 5]]
            if wraps(sign, left, right):
                machine.words[Word.AT], machine.key[0], machine.key[1] = sign, left, right
                return WRONG
            registers[instructions[at + 3]] = calculate(sign, left, right)
            at = after


@inner_kernel
def take_head(machine):
    """Put the head of the binding that was found where keys are."""
    address, at = machine.words[Word.PLAN], machine.words[Word.AT]
    size = array_at(address, (2,), np.int64)
    instructions = array_at(address, (size[0],), np.int64)
    _collect_key(machine, instructions, array_at(address + 8 * size[0], (size[1],), np.int64), at + 1)


@inlined_kernel
def _collect_key(machine, instructions, registers, at):
    """Put a key together: how many registers, and which."""
    for index in range(instructions[at]):
        machine.key[index] = registers[instructions[at + 1 + index]]


@inlined_kernel
def _holds(machine, instructions, registers, at):
    """Whether a row is there, or is not if it is negated."""
    _collect_key(machine, instructions, registers, at + 5)
    row = find_row(instructions[at + 2], machine.words[Word.KEY])
    there = False
    if row >= 0:
        header = array_at(instructions[at + 2], _ROW_FIELDS, np.int64)
        bits = instructions[at + 3] if instructions[at + 3] else machine.words[Word.WANT]
        there = array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)[row] & bits == bits
    return there != (instructions[at + 4] != 0)


@inlined_kernel
def _open(machine, instructions, registers, at):
    """Begin to follow a list."""
    depth = machine.words[Word.DEPTH]
    _collect_key(machine, instructions, registers, at + 6)
    head, count = find_list(instructions[at + 3], machine.words[Word.KEY])
    machine.stack[depth, _AT], machine.stack[depth, _ROW], machine.stack[depth, _LEFT] = at, head, count
    machine.words[Word.DEPTH] = depth + 1


@inner_kernel
def _follow(machine, instructions, registers):
    """Take the next row of the last list that has one, and bind what it gives: the step after, or why there is none."""
    words, stack = machine.words, machine.stack
    while words[Word.DEPTH] > 0:
        depth = words[Word.DEPTH] - 1
        at, row, left = stack[depth, _AT], stack[depth, _ROW], stack[depth, _LEFT]
        header, lists = (
            array_at(instructions[at + 2], _ROW_FIELDS, np.int64),
            array_at(instructions[at + 3], _LIST_FIELDS, np.int64),
        )
        states = array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)
        links = array_at(lists[ListField.LINKS], (lists[ListField.ROWS], 3), np.int32)
        bits = instructions[at + 4] if instructions[at + 4] else words[Word.WANT]
        found, looks = NONE, words[Word.LOOKS]
        while left > 0 and found == NONE and looks > 0:
            if states[row] & bits == bits:
                found = row
            row = np.int64(links[row, NEXT])
            left -= 1
            looks -= 1
        words[Word.LOOKS] = looks
        stack[depth, _ROW], stack[depth, _LEFT] = row, left
        if found >= 0:
            if instructions[at + 5]:
                stack[depth, _LEFT] = 0
            _bind(
                instructions,
                registers,
                at + 7 + instructions[at + 6],
                header[RowField.CODES],
                header[RowField.WIDTH],
                found,
            )
            return instructions[at + 1]
        if left > 0:
            return PAUSED
        words[Word.DEPTH] = depth
    return ENDED


@inlined_kernel
def _bind(instructions, registers, at, address, width, row):
    """Let registers have codes of a row: how many, and which."""
    codes = array_at(address, (row + 1, width), np.int64)
    for index in range(at + 1, at + 1 + 2 * instructions[at], 2):
        registers[instructions[index]] = codes[row, instructions[index + 1]]
