"""Settles the rows of predicates with stages one by one, the lowest stage first.

A row that depends on a changed row is queued and decided in its turn: it holds if some plan from it back finds a
derivation. If the decision changes the row, the forward plans of its users find the rows to queue next. All that a row
depends on comes before it, by stage and within a stage by predicate, so each row is decided once.

A row that may come is put into its set at once, in no state but ``WAITING``, so that it waits once however often it is
derived. A call that has no room or has taken its time ends; once what it lacks has been seen to, the next one goes on.
"""

from enum import IntEnum

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels._reference import by_reference, inlined_kernel, inner_kernel
from skerry.kernels.array_address import address_of, array_at
from skerry.kernels.rules.plan_interpreter import ENDED, PAUSED, WRONG, Machine, Word, begin, go_on, take_head
from skerry.kernels.rules.row_access import add_row, enter_list, find_row, lacks_keys, lacks_rows
from skerry.kernels.rules.row_set import NEW, NONE, OLD, TOUCHED, WAITING, RowField

__all__ = ["LOWEST", "PROVING", "Ending", "Heap", "RelationField", "Use", "settle"]

LOWEST = -(2**63)
"""The stage of rows that have changed already."""
_ROW_FIELDS = (len(RowField),)
_IDLE, PROVING, _NOTIFYING = range(3)
"""What is done with the row in hand: is there a derivation; and who is to know that it came or went?"""
_NOT_BEGUN, _UNDER_WAY, _OFFERING = range(3)


class Ending(IntEnum):
    """Why a call ends."""

    DONE = 0
    TIME = 1
    """Look at the clock."""
    HEAP = 2
    """No room for another row that waits."""
    ROWS = 3
    """No room in a relation, or in its postings."""
    WRONG = 4
    """A number does not fit into 64 bits."""
    TUPLES = 5
    """A relation has too many tuples."""
    STAGES = 6
    """There are too many stages."""


class RelationField(IntEnum):
    """What is known of a relation. Those outside the component only bring changes; they come first, without a stage."""

    HEADER = 0
    STAGE = 1
    """The column, or ``NONE``."""
    SIZE = 2
    POSTINGS = 3
    POSTINGS_END = 4
    LIMITS = 5
    LIMITS_END = 6
    PROOFS = 7
    PROOFS_END = 8
    USES = 9
    USES_END = 10


class Use(IntEnum):
    """A plan forward: from a relation that has changed to the head of a rule."""

    PLAN = 0
    NEGATED = 1
    HEAD = 2


class Heap(IntEnum):
    """What waits."""

    STAGE = 0
    RELATION = 1
    ROW = 2


def settle(machine: Machine) -> Ending:
    """Decide rows until none waits, or something is lacking."""
    machine.words[Word.KEY] = address_of(machine.key)
    return Ending(_begin(machine))


@kernel
def _begin(machine):
    return _settle(by_reference(machine))


@inner_kernel
def _settle(machine):
    words = machine.words
    while True:
        if words[Word.PHASE] == _IDLE:
            if words[Word.WAITING] == 0:
                return np.int64(Ending.DONE)
            _take(machine)
            if words[Word.STAGES] > words[Word.MOST_STAGES]:
                return np.int64(Ending.STAGES)
        if words[Word.PHASE] == PROVING:
            ending = _prove(machine)
            if ending != Ending.DONE:
                return ending
        if words[Word.PHASE] == _NOTIFYING:
            ending = _notify_users(machine)
            if ending != Ending.DONE:
                return ending
        words[Word.PHASE] = _IDLE


@inlined_kernel
def _take(machine):
    """Take up the next row that waits."""
    words, heap = machine.words, machine.heap
    stage, relation, row = heap[0, Heap.STAGE], heap[0, Heap.RELATION], heap[0, Heap.ROW]
    words[Word.WAITING] -= 1
    _sink(heap, words[Word.WAITING])
    of = machine.relations[relation]
    decided = of[RelationField.STAGE] == NONE
    if not decided and (stage != words[Word.STAGE] or words[Word.STAGES] == 0):
        words[Word.STAGES] += 1
    words[Word.STAGE], words[Word.RELATION], words[Word.ROW] = stage, relation, row
    words[Word.PHASE] = _NOTIFYING if decided else PROVING
    words[Word.TURN] = of[RelationField.USES] if decided else of[RelationField.PROOFS]
    words[Word.WALK] = _NOT_BEGUN


@inner_kernel
def _prove(machine):
    """Find out whether the row in hand has a derivation, and let it come or go."""
    words, of = machine.words, machine.relations[machine.words[Word.RELATION]]
    while words[Word.TURN] < of[RelationField.PROOFS_END]:
        found = _walk(machine, machine.proofs[words[Word.TURN]], NEW)
        if found in (PAUSED, WRONG):
            return np.int64(Ending.TIME if found == PAUSED else Ending.WRONG)
        words[Word.WALK] = _NOT_BEGUN
        if found != ENDED:
            return _decide(machine, True)
        words[Word.TURN] += 1
    return _decide(machine, False)


@inner_kernel
def _decide(machine, holds):
    words, of = machine.words, machine.relations[machine.words[Word.RELATION]]
    header, row = array_at(of[RelationField.HEADER], _ROW_FIELDS, np.int64), words[Word.ROW]
    states = array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)
    was = states[row] & NEW != 0
    states[row] = (states[row] & OLD) | TOUCHED | (NEW if holds else 0)
    words[Word.LACKING] = words[Word.TURN]
    words[Word.PHASE], words[Word.TURN] = _NOTIFYING, of[RelationField.USES_END if was == holds else RelationField.USES]
    if holds and not was:
        array_at(header[RowField.RANKS], (header[RowField.ROOM],), np.int64)[row] = words[Word.STAGE] << 32
        of[RelationField.SIZE] += 1
        if of[RelationField.SIZE] > words[Word.MOST_TUPLES]:
            return np.int64(Ending.TUPLES)
    elif was and not holds:
        of[RelationField.SIZE] -= 1
    return np.int64(Ending.DONE)


@inner_kernel
def _notify_users(machine):
    """Queue all rows that may come or go because the row in hand did."""
    words, of = machine.words, machine.relations[machine.words[Word.RELATION]]
    header = array_at(of[RelationField.HEADER], _ROW_FIELDS, np.int64)
    came = array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)[words[Word.ROW]] & NEW != 0
    while words[Word.TURN] < of[RelationField.USES_END]:
        use = machine.uses[words[Word.TURN]]
        gains = came != (use[Use.NEGATED] != 0)
        if words[Word.WALK] != _OFFERING:
            found = _walk(machine, use[Use.PLAN], NEW if gains else OLD)
            if found in (PAUSED, WRONG):
                return np.int64(Ending.TIME if found == PAUSED else Ending.WRONG)
            if found == ENDED:
                words[Word.TURN] += 1
                words[Word.WALK] = _NOT_BEGUN
                continue
        words[Word.WALK] = _OFFERING
        ending = _offer(machine, use[Use.HEAD], gains)
        if ending != Ending.DONE:
            return ending
        words[Word.WALK] = _UNDER_WAY
    return np.int64(Ending.DONE)


@inlined_kernel
def _walk(machine, plan, want):
    """Begin a plan with the row in hand, or go on with it."""
    words, at = machine.words, ENDED
    if words[Word.WALK] == _NOT_BEGUN:
        at = begin(machine, plan, machine.relations[words[Word.RELATION], RelationField.HEADER], words[Word.ROW], want)
        words[Word.WALK] = _UNDER_WAY
    return go_on(machine, at)


@inner_kernel
def _offer(machine, relation, gains):
    """Let the row of a head that was found wait for its turn, if that may change it."""
    words, of = machine.words, machine.relations[relation]
    take_head(machine)
    for limit in range(of[RelationField.LIMITS], of[RelationField.LIMITS_END]):
        if machine.key[machine.limits[limit, 0]] > machine.limits[limit, 1]:
            return np.int64(Ending.DONE)
    stage, row = machine.key[of[RelationField.STAGE]], find_row(of[RelationField.HEADER], words[Word.KEY])
    if not _is_open(of[RelationField.HEADER], row, gains):
        return np.int64(Ending.DONE)
    if words[Word.WAITING] == len(machine.heap) or words[Word.LOGGED] == len(machine.log):
        return np.int64(Ending.HEAP)
    if row == NONE:
        if _lacks_room(machine, of):
            words[Word.LACKING] = relation
            return np.int64(Ending.ROWS)
        row = _enter(machine, of)
    header = array_at(of[RelationField.HEADER], _ROW_FIELDS, np.int64)
    array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)[row] |= WAITING
    machine.log[words[Word.LOGGED], 0], machine.log[words[Word.LOGGED], 1] = relation, row
    words[Word.LOGGED] += 1
    _rise(machine.heap, words[Word.WAITING], stage, relation, row)
    words[Word.WAITING] += 1
    return np.int64(Ending.DONE)


@inlined_kernel
def _is_open(address, row, gains):
    """Whether a row that may come is not there, or one that may go is; one that waits already needs no more."""
    if row == NONE:
        return gains
    header = array_at(address, _ROW_FIELDS, np.int64)
    state = array_at(header[RowField.STATES], (header[RowField.ROOM],), np.int8)[row]
    return state & WAITING == 0 and (state & NEW != 0) != gains


@inlined_kernel
def _lacks_room(machine, of):
    lacks = lacks_rows(of[RelationField.HEADER])
    for index in range(of[RelationField.POSTINGS], of[RelationField.POSTINGS_END]):
        lacks = lacks or lacks_keys(machine.postings[index], of[RelationField.HEADER])
    return lacks


@inlined_kernel
def _enter(machine, of):
    row = add_row(of[RelationField.HEADER], machine.words[Word.KEY])
    for index in range(of[RelationField.POSTINGS], of[RelationField.POSTINGS_END]):
        enter_list(machine.postings[index], of[RelationField.HEADER], row, machine.words[Word.KEY])
    return row


@inlined_kernel
def _is_before(heap, index, stage, relation):
    """Whether the entry at an index comes before a stage and relation."""
    other = heap[index, Heap.STAGE]
    return other < stage or (other == stage and heap[index, Heap.RELATION] < relation)


@inlined_kernel
def _copy(heap, index, to):
    for part in range(heap.shape[1]):
        heap[to, part] = heap[index, part]


@inner_kernel
def _rise(heap, index, stage, relation, row):
    """Put an entry in: from the end up to where it belongs."""
    while index > 0 and not _is_before(heap, (index - 1) >> 1, stage, relation + 1):
        _copy(heap, (index - 1) >> 1, index)
        index = (index - 1) >> 1
    heap[index, Heap.STAGE], heap[index, Heap.RELATION], heap[index, Heap.ROW] = stage, relation, row


@inner_kernel
def _sink(heap, count):
    """Take the first entry out: the last one goes down from the top to where it belongs."""
    stage, relation, row = heap[count, Heap.STAGE], heap[count, Heap.RELATION], heap[count, Heap.ROW]
    index, below = 0, 1
    while below < count:
        if below + 1 < count and _is_before(heap, below + 1, heap[below, Heap.STAGE], heap[below, Heap.RELATION]):
            below += 1
        if not _is_before(heap, below, stage, relation):
            break
        _copy(heap, below, index)
        index, below = below, 2 * below + 1
    heap[index, Heap.STAGE], heap[index, Heap.RELATION], heap[index, Heap.ROW] = stage, relation, row
