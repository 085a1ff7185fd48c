"""Tuples are judged by what tuples like them went on to yield, by the time for which they took up room.

Once its key repeats, a tuple is like others of its key (``policies.repeating_keys``). Until then it is like tuples in
the same situation: which streams had its key when it arrived, which have it by now, how old it is; or that it has had
an answer; or that its key has lost a tuple. Where keys repeat, those stay that make most combinations, much as with
``frequency``; where they do not, those stay whose key is on its way through all streams, as with ``pattern``.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels._reference import inner_kernel
from skerry.kernels.bits import ones
from skerry.kernels.hash import hash_of
from skerry.kernels.shedding.bounded_windows import at
from skerry.kernels.shedding.policies.repeating_keys import (
    ABSENT,
    RepeatingKeys,
    combinations,
    count_arrival,
    empty_repeating_keys,
    forget,
    is_repeating,
    judge,
    resize_keys,
    would_repeat,
)
from skerry.kernels.shedding.priority_queues import (
    Queues,
    append,
    empty_queues,
    first,
    least,
    prioritise,
    resize_queues,
    take_out,
)
from skerry.kernels.shedding.window_arrays import GHOST, NONE, Windows, lengthen, move_rows
from skerry.model.arrays import Bools, Float64s, Int32s, Int64s, UInt64s

__all__ = ["Adaptive"]

_LATER, _OWN, _TUPLES = range(3)
_GAIN, _TIME, _EXITS = range(3)
_SITUATIONS, _KEYS, _NOW = range(3)
_ANSWERED, _BROKEN = 1, 2
"""The situations that each stream has from the start; others follow as they are seen."""
_AGES = (0.0, 0.0625, 0.25, 0.5)
"""When an age begins, as a fraction of a lifetime."""
_AGE_COUNT = len(_AGES)
_RECENT = 1024.0
"""When so many tuples have arrived in a situation, what was learned of them counts half from then on."""
_EXPERIENCE = 256.0
"""When so many tuples have left a situation, what was learned of it counts half from then on."""
_PRIOR = 2.0
"""How many tuples must have left a situation for it to be believed as much as what is usual in its stream."""
_FEW, _MANY = 64, 8192
"""How many situations there is room for at first, and at the most; those of later ones are thought of as broken."""


class Adaptive(NamedTuple):
    """Classes are pairs of situation and age, each of a stream; and pairs of stream and key, with negative numbers.

    The priority of a key is the answers that a tuple of it may expect after its own arrival, by the time it can
    stay. A situation at an age leads to others, or to the end. What is ahead of it is what its tuples gained and
    how long they stayed in it, and what is ahead where they went from there, on average; its priority is the gain
    ahead by the time ahead. A tuple that is shed tells how long it stayed, and nothing more; so a situation that is
    shed early is not thought ill of for it. What was learned long ago counts less and less. A situation that little is
    known of is believed to be better the more streams have the key, as if it were one that repeats.
    """

    situations: Queues
    keys: RepeatingKeys
    ahead: Float64s
    """By situation and age: gains and times, in it and ahead of those that left it, and how many left."""
    usual: Float64s
    """Gains and times by stream."""
    sums: Float64s
    """By situation: answers after and on arrival, and tuples that arrived in it."""
    hopes: Float64s
    """By situation: how much more than is usual in its stream is believed to be ahead, before that is known."""
    broken: Bools
    """By entry: whether a stream has lost its last tuple of the key, and there was no answer since."""
    since: Int64s
    """Since when a tuple is in its class."""
    patterns: UInt64s
    """By situation: streams that had the key on arrival, and that have it."""
    owners: Int64s
    """The stream of each situation."""
    situation_index: Int32s
    """Situations by hash of stream and patterns."""
    marks: Int64s
    """How many situations there are, how many keys came in, the newest start."""
    turns: Int64s
    """Whose turn it is to be looked through, by stream: a position in its heap."""

    @classmethod
    def of(cls, windows: Windows, seed: int, hash_values: int) -> "Adaptive":
        """A policy for empty windows."""
        streams = len(windows.streams)
        room = _FEW + 2 * streams
        owners = np.zeros(room, np.int64)
        owners[1 : 2 * streams + 1] = np.arange(2 * streams) // 2
        policy = cls(
            situations=empty_queues(windows, room * _AGE_COUNT),
            keys=empty_repeating_keys(windows),
            ahead=np.zeros((room * _AGE_COUNT, 3)),
            usual=np.zeros((streams, 2)),
            sums=np.zeros((room, 3)),
            hopes=np.ones(room),
            broken=np.zeros(len(windows.entries), np.bool_),
            since=np.zeros(len(windows.tuples), np.int64),
            patterns=np.zeros((room, 2), np.uint64),
            owners=owners,
            situation_index=np.zeros(1 << (2 * room).bit_length(), np.int32),
            marks=np.array([2 * streams, 0, -(2**63)], np.int64),
            turns=np.zeros(streams, np.int64),
        )
        policy.situations.classes["tie"] = np.arange(room * _AGE_COUNT)
        return policy

    def grow(self, before: Windows, windows: Windows) -> "Adaptive":
        """The same with more room."""
        room = len(self.sums) * (2 if self.is_crowded() else 1)
        larger = self._replace(
            situations=resize_queues(self.situations, before, windows, room * _AGE_COUNT),
            keys=resize_keys(self.keys, before, windows),
            ahead=lengthen(self.ahead, room * _AGE_COUNT),
            sums=lengthen(self.sums, room),
            hopes=lengthen(self.hopes, room),
            broken=lengthen(self.broken, len(windows.entries)),
            since=move_rows(self.since, before.streams, windows.streams),
            patterns=lengthen(self.patterns, room),
            owners=lengthen(self.owners, room),
            situation_index=np.zeros(1 << (2 * room).bit_length(), np.int32),
        )
        larger.situations.classes["tie"] = np.arange(room * _AGE_COUNT)
        _index_all(
            larger.situation_index, larger.patterns, larger.owners, len(windows.streams), larger.marks[_SITUATIONS]
        )
        return larger

    @property
    def label_count(self) -> int:
        """One per situation, and before them one per stream for keys that repeat."""
        return len(self.sums) + len(self.usual)

    def describe_label(self, label: int) -> tuple[int, str]:
        """A stream, and a pattern, a digit per stream, or what else is known of the tuple."""
        streams = len(self.usual)
        situation = label - streams
        if situation < 0:
            return label, "key"
        if situation <= 2 * streams:
            return (situation - 1) // 2, ("answered", "broken")[(situation - 1) % 2]
        bits = int(self.patterns[situation, 0])
        return int(self.owners[situation]), f"{bits:0{streams}b}"[::-1]

    def classify(self, windows, entry, key, stream, pattern):
        """The class of the key if it repeats, else the first age of a situation, a new one if need be."""
        if entry != NONE and would_repeat(self.keys, entry, stream):
            return -(entry * windows.streams.size + stream)
        if entry != NONE and self.broken[entry]:
            return (2 * stream + _BROKEN) * _AGE_COUNT
        situation = _find_situation(self, stream, pattern, pattern)
        return (situation if situation != NONE else 2 * stream + _BROKEN) * _AGE_COUNT

    def worth(self, windows, entry, kind):
        """All its answers per tuple: those that an arrival completes are its own."""
        streams, sums, situation = windows.streams.size, self.sums, kind // _AGE_COUNT
        if kind < 0:
            return streams * combinations(self.keys, windows, entry, -kind - entry * streams)
        return (sums[situation, _LATER] + sums[situation, _OWN]) / max(sums[situation, _TUPLES], 1.0)

    def evict(self, windows, stream):
        """The first tuple of the class that promises least."""
        keys = self.keys.queues
        kind, of_key = least(self.situations, windows, stream), least(keys, windows, stream)
        lower = keys.classes[of_key]["priority"] < self.situations.classes[kind]["priority"]
        if kind == NONE or (of_key != NONE and lower):
            return first(keys, windows, stream, of_key)
        return first(self.situations, windows, stream, kind)

    def withdraw(self, windows, stream, number):
        """Out of its class."""
        kind = windows.tuples[at(windows, stream, number)]["kind"]
        if kind < 0:
            take_out(self.keys.queues, windows, stream, number, -kind)
        else:
            _end(self, windows, stream, number, kind, NONE)

    def leave(self, windows, stream, entry):
        """A key is broken when a stream has lost its last tuple of it, and forgotten when all have."""
        self.keys.held[entry * windows.streams.size + stream] -= 1
        if windows.entries[entry]["held"] == 0:
            self.broken[entry] = False
            forget(self.keys, entry)
        elif is_repeating(self.keys, entry):
            judge(self.keys, windows, entry)
        elif windows.heads[entry, stream] == NONE and not self.broken[entry]:
            self.broken[entry] = True
            _break(self, windows, entry)

    def admit(self, windows, stream, number, entry, kind):
        """To the end of its class; the key may repeat now, and others have come of age."""
        streams, here = windows.streams.size, at(windows, stream, number)
        start = windows.tuples[here]["start"]
        if windows.entries[entry]["held"] == 1:
            self.marks[_KEYS] += 1
            for each in range(entry * streams, (entry + 1) * streams):
                self.keys.queues.classes[each]["tie"] = self.marks[_KEYS]
        self.marks[_NOW] = max(self.marks[_NOW], start)
        if count_arrival(self.keys, windows, entry, stream):
            for each in range(streams):
                _judge_by_key(self, windows, each, entry, entry * streams + each)
        if kind < 0:
            judge(self.keys, windows, entry)
            append(self.keys.queues, windows, stream, number, -kind)
            windows.tuples[here]["kind"] = kind
        else:
            _count(self.sums, kind // _AGE_COUNT)
            _begin(self, windows, stream, number, kind // _AGE_COUNT)
        if windows.heads[entry, stream] == number and windows.tuples[here]["older"] == NONE:
            _appear(self, windows, entry, stream)
        _update_ages(self, windows, stream)

    def credit(self, windows, stream, number, answers, arriving):
        """Its situation has had so many answers more; one that was held is in another now."""
        here = at(windows, stream, number)
        kind, column = windows.tuples[here]["kind"], _OWN if arriving else _LATER
        self.broken[windows.tuples[here]["entry"]] = False
        if kind > 0:
            self.sums[kind // _AGE_COUNT, column] += answers
        if kind > 0 and not arriving and windows.tuples[here]["fate"] & GHOST == 0:
            self.ahead[kind, _GAIN] += answers
            self.usual[stream, _GAIN] += answers
            if kind // _AGE_COUNT != 2 * stream + _ANSWERED:
                _move(self, windows, stream, number, 2 * stream + _ANSWERED)
            else:
                _judge(self, windows, stream, here, kind)

    def label(self, stream, kind):
        """The stream if the key repeats, else the situation."""
        return stream if kind < 0 else self.usual.shape[0] + kind // _AGE_COUNT

    def is_crowded(self):
        """Whether there is no room for the situations that an arrival may lead to, one per stream, but may be."""
        full = self.marks[_SITUATIONS] + self.usual.shape[0] + 1 >= self.sums.shape[0]
        return full and self.sums.shape[0] < _MANY


@inner_kernel
def _count(sums, kind):
    """Count a tuple."""
    sums[kind, _TUPLES] += 1.0
    if sums[kind, _TUPLES] >= _RECENT:
        _fade(sums, kind)


@inner_kernel
def _fade(rows, row):
    """Let what was learned count half."""
    for column in range(rows.shape[1]):
        rows[row, column] *= 0.5


@inner_kernel
def _lifetime(windows, here):
    """How long a tuple may stay."""
    return float(windows.tuples[here]["end"]) - float(windows.tuples[here]["start"]) + 1.0


@inner_kernel
def _age_of(policy, windows, here):
    """The number of the age that a tuple is in."""
    age = (float(policy.marks[_NOW]) - float(windows.tuples[here]["start"])) / _lifetime(windows, here)
    return (age >= _AGES[1]) + (age >= _AGES[2]) + (age >= _AGES[3])


@inner_kernel
def _begin(policy, windows, stream, number, situation):
    """Put a tuple into a situation, at its age."""
    here = at(windows, stream, number)
    kind = situation * _AGE_COUNT + _age_of(policy, windows, here)
    policy.since[here] = policy.marks[_NOW]
    if policy.situations.classes[kind]["position"] == 0:
        _judge(policy, windows, stream, here, kind)
    append(policy.situations, windows, stream, number, kind)


@inner_kernel
def _end(policy, windows, stream, number, kind, following):
    """Take a tuple out of its class, which learns what is ahead of the following one; none if that is not known."""
    here = at(windows, stream, number)
    take_out(policy.situations, windows, stream, number, kind)
    time = float(policy.marks[_NOW]) - float(policy.since[here])
    policy.ahead[kind, _TIME] += time
    policy.usual[stream, _TIME] += time
    if following != NONE:
        gain, later, exits = _outlook(policy, windows, stream, here, following)
        policy.ahead[kind, _GAIN] += gain / exits
        rest = (1.0 - _AGES[following % _AGE_COUNT]) * _lifetime(windows, here)
        policy.ahead[kind, _TIME] += min(later / exits, rest)
    if following != NONE or windows.tuples[here]["end"] <= policy.marks[_NOW]:
        policy.ahead[kind, _EXITS] += 1.0
    if policy.ahead[kind, _EXITS] >= _EXPERIENCE:
        _fade(policy.ahead, kind)
    if policy.usual[stream, _TIME] >= _EXPERIENCE * _lifetime(windows, here):
        _fade(policy.usual, stream)
    _judge(policy, windows, stream, here, kind)


@inner_kernel
def _move(policy, windows, stream, number, situation):
    """Let a tuple be in another situation, or at another age in its own."""
    here = at(windows, stream, number)
    kind = windows.tuples[here]["kind"]
    if kind > 0 and windows.tuples[here]["fate"] & GHOST == 0:
        _end(policy, windows, stream, number, kind, situation * _AGE_COUNT + _age_of(policy, windows, here))
        _begin(policy, windows, stream, number, situation)


@inner_kernel
def _outlook(policy, windows, stream, here, kind):
    """What is ahead of all tuples that left a class, as far as is known, and how many they are; gains and times.

    They include some that fared as is hoped for, from what is usual in the stream, and the younger the better.
    """
    lifetime, rest = _lifetime(windows, here), 1.0 - _AGES[kind % _AGE_COUNT]
    usual = (policy.usual[stream, _GAIN] + 1.0) / (policy.usual[stream, _TIME] + lifetime)
    hope = policy.hopes[kind // _AGE_COUNT]
    time = _PRIOR * rest * lifetime
    ahead = policy.ahead
    return ahead[kind, _GAIN] + time * rest * usual * hope, ahead[kind, _TIME] + time, ahead[kind, _EXITS] + _PRIOR


@inner_kernel
def _judge(policy, windows, stream, here, kind):
    """Give a class the priority that it has by now."""
    gain, time, _ = _outlook(policy, windows, stream, here, kind)
    prioritise(policy.situations, windows, stream, kind, gain / time)


@inner_kernel
def _update_ages(policy, windows, stream):
    """Move tuples that have reached the next age into its class; with each arrival, another class has its turn."""
    sizes, turns = policy.situations.sizes, policy.turns
    turns[stream] = turns[stream] + 1 if turns[stream] < sizes[stream] else 1
    kind = np.int64(policy.situations.heaps[at(windows, stream, turns[stream])]) if sizes[stream] > 0 else NONE
    number = np.int64(policy.situations.classes[kind]["front"])
    while number != NONE and _age_of(policy, windows, at(windows, stream, number)) > kind % _AGE_COUNT:
        _move(policy, windows, stream, number, kind // _AGE_COUNT)
        number = np.int64(policy.situations.classes[kind]["front"])


@inner_kernel
def _judge_by_key(policy, windows, stream, entry, of_key):
    """Judge the tuples that a stream has of a key by the key from now on, the oldest first."""
    number, older = np.int64(NONE), np.int64(windows.heads[entry, stream])
    while older != NONE:
        number, older = older, np.int64(windows.tuples[at(windows, stream, older)]["older"])
    while number != NONE:
        slot = windows.tuples[at(windows, stream, number)]
        if slot["kind"] > 0:
            if slot["fate"] & GHOST == 0:
                _end(policy, windows, stream, number, np.int64(slot["kind"]), NONE)
                append(policy.keys.queues, windows, stream, number, of_key)
            slot["kind"] = -of_key
        number = np.int64(slot["newer"])


@inner_kernel
def _appear(policy, windows, entry, own):
    """Move the tuples of a key to the situation in which another stream has it too."""
    for stream in range(windows.streams.size):
        number = np.int64(windows.heads[entry, stream]) if stream != own else np.int64(NONE)
        while number != NONE:
            here = at(windows, stream, number)
            situation = windows.tuples[here]["kind"] // _AGE_COUNT
            if situation > 2 * windows.streams.size:
                now = policy.patterns[situation, 1] | np.uint64(1) << np.uint64(own)
                following = _find_situation(policy, stream, policy.patterns[situation, 0], now)
                _move(policy, windows, stream, number, following if following != NONE else situation)
            number = np.int64(windows.tuples[here]["older"])


@inner_kernel
def _break(policy, windows, entry):
    """Move what is left of a key to the situation of keys that have lost a tuple."""
    for stream in range(windows.streams.size):
        number = np.int64(windows.heads[entry, stream])
        while number != NONE:
            here = at(windows, stream, number)
            if windows.tuples[here]["kind"] // _AGE_COUNT > 2 * windows.streams.size:
                _move(policy, windows, stream, number, 2 * stream + _BROKEN)
            number = np.int64(windows.tuples[here]["older"])


@inner_kernel
def _find_situation(policy, stream, before, now):
    """The situation of a tuple whose key was in some streams before it, and is in some now.

    It is a new one if need be; none if there is no room for one.
    """
    position = _find_in_index(policy.situation_index, policy.patterns, policy.owners, stream, before, now)
    if policy.situation_index[position] == NONE and policy.marks[_SITUATIONS] + 1 < policy.sums.shape[0]:
        policy.marks[_SITUATIONS] += 1
        policy.situation_index[position] = policy.marks[_SITUATIONS]
        policy.patterns[policy.situation_index[position], 0] = before
        policy.patterns[policy.situation_index[position], 1] = now
        policy.owners[policy.situation_index[position]] = stream
        policy.hopes[policy.situation_index[position]] = (1.0 + 1.0 / ABSENT) ** (ones(now) - 1)
    return np.int64(policy.situation_index[position])


@inner_kernel
def _find_in_index(index, patterns, owners, stream, before, now):
    """The position of a situation in the index, or the one where it would be put."""
    mask = index.size - 1
    position = np.int64(hash_of(hash_of(before + np.uint64(stream)) + now) & np.uint64(mask))
    while index[position] != NONE and (
        patterns[index[position], 0] != before
        or patterns[index[position], 1] != now
        or owners[index[position]] != stream
    ):
        position = (position + 1) & mask
    return position


@inner_kernel
def _index_all(index, patterns, owners, streams, used):
    for situation in range(2 * streams + 1, used + 1):
        before, now = patterns[situation, 0], patterns[situation, 1]
        index[_find_in_index(index, patterns, owners, owners[situation], before, now)] = situation
