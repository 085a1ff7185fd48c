"""The complete join in bounded windows, a tuple at a time.

An arrival whose window is full first lets those go that have ended, the first to have arrived first; if it is
full still, a tuple must go, and the policy says which (``policies.policy``). Then it is put in, joined,
and all that take part in an answer are credited.

Tuples of a sample of keys stay until they end. One of them that should have gone is a *ghost* from then on, and
another goes instead: its answers are those that shedding loses. Ghosts take room, so a sample that fills a
tenth of a window is halved.

Kwon, Lee, Kim: Load shedding for multi-way stream joins based on arrival order patterns, 2010, section 3.2.
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels._reference import by_reference, inlined_kernel, inner_kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.joins.snjoin import Tuples
from skerry.kernels.shedding.bounded_windows import (
    at,
    existing,
    first_arrival,
    insert,
    lacks_entries,
    lacks_slots,
    look_ahead,
    next_number,
    remove,
)
from skerry.kernels.shedding.combinations import choose, first_newest, next_newest, write
from skerry.kernels.shedding.loss_counters import (
    LIMIT,
    REFUSING,
    LossCounters,
    is_log_full,
    is_refused,
    is_sampled,
    note_answers,
    note_worth,
    open_page,
    sample_ahead,
    tally,
)
from skerry.kernels.shedding.policies.policy import (
    Policy,
    admit,
    classify,
    credit,
    evict,
    is_crowded,
    label,
    leave,
    withdraw,
    worth,
)
from skerry.kernels.shedding.window_arrays import GHOST, NONE, SAMPLED, Windows
from skerry.model.arrays import Int64s

__all__ = ["COUNTERS", "DONE", "LOG", "OUTPUT", "POLICY", "WINDOWS", "join", "sweep"]


DONE, OUTPUT, WINDOWS, POLICY, COUNTERS, LOG = range(6)
"""Why a call ends: there is nothing more to do, or there is no room in what is named."""
_JUDGED = 32
"""One of so many arrivals is judged when none is refused."""
_BUDGET_PER_SAMPLE = 10
"""The sample is halved when it holds more than one of so many tuples of a window."""


def join(
    windows: Windows, policy: Policy, counters: LossCounters, tuples: Tuples, row: int, output: Int64s, counting: bool
) -> tuple[int, int, float, float, int]:
    """Take tuples in from a row on, until all are or there is no room somewhere.

    Gives the row reached; how many answers are written; how many have been counted; how many the tuple of that row
    has, if they do not fit; and why it ends.
    """
    return _begin_join(windows, policy, counters, tuples, row, output, counting)


def sweep(windows: Windows, policy: Policy, watermark: int) -> None:
    """Forget what has ended, stream by stream, the first to have arrived first."""
    _begin_sweep(windows, policy, watermark)


@kernel
def _begin_join(windows, policy, counters, tuples, row, output, counting):
    return _join(
        by_reference(windows), by_reference(policy), by_reference(counters), by_reference(tuples), row, output, counting
    )


@kernel
def _begin_sweep(windows, policy, watermark):
    _sweep(by_reference(windows), by_reference(policy), watermark)


@inner_kernel
def _sweep(windows, policy, watermark):
    for stream in range(windows.streams.size):
        _expire(windows, policy, stream, watermark)


@inner_kernel
def _join(windows, policy, counters, tuples, row, output, counting):
    known, filled, counted, answers, reason = row, np.int64(0), 0.0, 0.0, DONE
    while reason == DONE and row < tuples.keys.size:
        if row == known and lacks_entries(windows, counters.found.size):
            reason = WINDOWS
        elif row == known:
            known = look_ahead(windows, tuples.keys, row, counters.found)
            sample_ahead(counters, tuples.keys, row)
        here = np.uint64(row)
        if reason == DONE and tuples.starts[here] <= tuples.ends[here]:
            stream = np.int64(np.uint32(tuples.streams[here]))
            reason = _reason(windows, policy, counters, stream, tuples.starts[here])
            if reason == DONE:
                ahead = np.uint64(row - known + counters.found.size)
                answers, reason = _arrive(
                    windows, policy, counters, tuples, here, stream, ahead, output, filled, counting
                )
        if reason == DONE:
            counted += answers
            filled += 0 if counting else int(answers)
            answers = 0.0
            row += 1
    return row, filled, counted, answers, reason


@inlined_kernel
def _arrive(windows, policy, counters, tuples, row, stream, ahead, output, filled, counting):
    """Take one tuple in, unless it is refused; give its answers."""
    key, start, answers, reason = tuples.keys[row], tuples.starts[row], 0.0, DONE
    entry, fate = np.int64(counters.found[ahead]), 0
    if counters.sampled[ahead]:  # unless the sample has become smaller meanwhile
        fate = SAMPLED if is_sampled(counters, hash_of(key)) else 0
    judging, value = counters.marks[REFUSING] != 0 or windows.streams[stream]["received"] % _JUDGED == 0, 0.0
    if judging:
        value = _worth(windows, policy, entry, key, stream, start)
        fate |= GHOST if counters.marks[REFUSING] != 0 and is_refused(counters, stream, key, value) else 0
    if fate != GHOST:
        answers, reason = _take(windows, policy, counters, tuples, row, stream, entry, fate, output, filled, counting)
    else:
        _refuse(windows, policy, counters, stream, entry, key, start)
    if reason == DONE:
        if judging:
            note_worth(counters, stream, value, fate == GHOST)
        windows.streams[stream]["received"] += 1
        tally(counters, stream)
        while windows.streams[stream]["samples"] * _BUDGET_PER_SAMPLE > windows.streams[stream]["budget"]:
            _halve_sample(windows, policy, counters)
    return answers, reason


@inner_kernel
def _refuse(windows, policy, counters, stream, entry, key, start):
    """Count an arrival as shed, in the class that it would have had."""
    kind = classify(policy, windows, entry, key, stream, existing(windows, entry, stream, start))
    _count_shed(windows, policy, counters, stream, kind)


@inlined_kernel
def _take(windows, policy, counters, tuples, row, stream, entry, fate, output, filled, counting):
    """Put a tuple into its window, and join it; if there is no room for the answers, only room is made for it."""
    key, start = tuples.keys[row], tuples.starts[row]
    _make_room(windows, policy, counters, stream, start)
    number = next_number(windows, stream)
    slot = windows.tuples[at(windows, stream, number)]
    slot["start"], slot["end"], slot["row"], slot["fate"] = start, tuples.ends[row], tuples.rows[row], fate
    pattern, groups, answers = existing(windows, entry, stream, start), 0, 0.0
    if _is_full(windows, pattern):
        groups, answers = _survey(windows, entry, stream, number)
    if not counting and answers > output.shape[1] - filled:
        return answers, OUTPUT
    if is_log_full(counters, groups):
        return 0.0, LOG
    _put_in(windows, policy, stream, number, entry, key, pattern)
    if groups > 0:
        _settle(windows, policy, counters, entry, stream, number, groups, answers, output, filled, counting)
    return answers, DONE


@inlined_kernel
def _reason(windows, policy, counters, stream, start):
    """Why a tuple cannot be taken in now, if so."""
    if lacks_slots(windows, stream):
        return WINDOWS
    if is_crowded(policy):
        return POLICY
    return DONE if open_page(counters, start) else COUNTERS


@inlined_kernel
def _is_full(windows, pattern):
    return pattern == ~np.uint64(0) >> np.uint64(64 - windows.streams.size)


@inner_kernel
def _worth(windows, policy, entry, key, stream, start):
    """What an arrival promises."""
    kind = classify(policy, windows, entry, key, stream, existing(windows, entry, stream, start))
    return worth(policy, windows, entry, kind)


@inlined_kernel
def _put_in(windows, policy, stream, number, entry, key, pattern):
    """Put a tuple into its window; a ghost is no candidate from the start."""
    slot = windows.tuples[at(windows, stream, number)]
    insert(windows, entry, stream, number)
    kind, fate = classify(policy, windows, entry, key, stream, pattern), slot["fate"]
    slot["kind"] = kind
    admit(policy, windows, stream, number, entry, kind)
    windows.streams[stream]["samples"] += fate & SAMPLED
    if fate & GHOST != 0:
        _spare(windows, policy, stream, number)


@inlined_kernel
def _make_room(windows, policy, counters, stream, moment):
    """If a window is full, let those go that ended before a moment, until the first that has not; or else another."""
    slots, tuples = windows.streams[stream], windows.tuples
    if slots["held"] >= slots["budget"]:
        first = at(windows, stream, tuples[at(windows, stream, NONE)]["later"])
        if tuples[first]["end"] < moment:
            _expire(windows, policy, stream, moment)
        else:
            number = _choose_victim(windows, policy, stream)
            kind = tuples[at(windows, stream, number)]["kind"]
            _remove(windows, policy, stream, number)
            _count_shed(windows, policy, counters, stream, kind)


@inlined_kernel
def _choose_victim(windows, policy, stream):
    """Who must go; those of the sample that should are ghosts from now on. If none is left, the first of them goes."""
    number, sampled = np.int64(NONE), True
    while sampled:
        number = evict(policy, windows, stream)
        sampled = number != NONE and windows.tuples[at(windows, stream, number)]["fate"] & SAMPLED != 0
        if sampled:
            _spare(windows, policy, stream, number)
    return number if number != NONE else first_arrival(windows, stream)


@inner_kernel
def _spare(windows, policy, stream, number):
    """Make a tuple a ghost."""
    windows.tuples[at(windows, stream, number)]["fate"] |= GHOST
    windows.streams[stream]["ghosts"] += 1
    withdraw(policy, windows, stream, number)


@inner_kernel
def _expire(windows, policy, stream, moment):
    """Let those go that ended before a moment, until the first that has not."""
    streams = windows.streams
    number = first_arrival(windows, stream)
    while number != NONE and windows.tuples[at(windows, stream, number)]["end"] < moment:
        _remove(windows, policy, stream, number)
        streams[stream]["expired"] += 1
        number = first_arrival(windows, stream)


@inner_kernel
def _remove_shed(windows, policy, counters, stream, number):
    """Let a tuple go that has not ended."""
    kind = windows.tuples[at(windows, stream, number)]["kind"]
    _remove(windows, policy, stream, number)
    _count_shed(windows, policy, counters, stream, kind)


@inlined_kernel
def _count_shed(windows, policy, counters, stream, kind):
    windows.streams[stream]["shed"] += 1
    tally(counters, windows.streams.size + label(policy, stream, kind))


@inlined_kernel
def _remove(windows, policy, stream, number):
    """Take a tuple out of everything."""
    fate = windows.tuples[at(windows, stream, number)]["fate"]
    if fate & GHOST == 0:
        withdraw(policy, windows, stream, number)
    else:
        windows.streams[stream]["ghosts"] -= 1
    windows.streams[stream]["samples"] -= fate & SAMPLED
    leave(policy, windows, stream, remove(windows, stream, number))


@inner_kernel
def _halve_sample(windows, policy, counters):
    """Make the sample half as large; ghosts that no longer belong to it go."""
    counters.marks[LIMIT] >>= 1
    for stream in range(windows.streams.size):
        number = first_arrival(windows, stream)
        while number != NONE:
            slot = windows.tuples[at(windows, stream, number)]
            following = np.int64(slot["later"])
            if slot["fate"] != 0 and not is_sampled(counters, hash_of(windows.entries[slot["entry"]]["key"])):
                if slot["fate"] & GHOST != 0:
                    _remove_shed(windows, policy, counters, stream, number)
                else:
                    slot["fate"] = 0
                    windows.streams[stream]["samples"] -= 1
            number = following


@inner_kernel
def _survey(windows, entry, own, arrival):
    """How many newest members the answers of an arrival have, and how many there are."""
    groups, answers = 0, 0.0
    for stream in range(windows.streams.size):
        newest = first_newest(windows, entry, own, arrival, stream)
        while newest != NONE:
            answers += choose(windows, entry, own, arrival, stream, newest)
            groups += 1
            newest = next_newest(windows, own, arrival, stream, newest)
    return groups, answers


@inner_kernel
def _settle(windows, policy, counters, entry, own, arrival, groups, answers, output, filled, counting):
    """Write the answers of an arrival if they are wanted, note them, and credit their members.

    If there is one newest member, what was chosen for it is chosen still.
    """
    sampled = windows.tuples[at(windows, own, arrival)]["fate"] & SAMPLED
    for stream in range(windows.streams.size):
        newest = first_newest(windows, entry, own, arrival, stream)
        while newest != NONE:
            total = answers if groups == 1 else choose(windows, entry, own, arrival, stream, newest)
            if total > 0 and not counting:
                write(windows, output, filled, int(total))
                filled += int(total)
            if total > 0:
                note_answers(windows, counters, windows.entries[entry]["key"], stream, newest, sampled, total)
                _credit(windows, policy, own, total)
            newest = next_newest(windows, own, arrival, stream, newest)


@inner_kernel
def _credit(windows, policy, own, total):
    """Credit every chosen tuple with the answers of a product that it is a member of."""
    chosen = windows.chosen
    for stream in range(windows.streams.size):
        answers = total / (chosen[stream + 1] - chosen[stream])
        for member in range(chosen[stream], chosen[stream + 1]):
            credit(policy, windows, stream, chosen[member], answers, stream == own)
