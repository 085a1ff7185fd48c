"""Variable-arity window probes: a tuple, and the tuples of other sensors that share its key.

One hash table serves all sensors, however many there are. A bucket is a chain of tuples, the newest
first in the order (time, sensor, arrival), so a probe walks down from its tuple and stops at the
window's edge. Tuples lie in a ring by number of arrival; what is older than the oldest live number
is forgotten, and a chain that leads there has ended. A probe skips runs of its own sensor, so that one
sensor that repeats itself costs nothing.

    heads     bucket ──► 9 ──► 7 ──► 4 ──► (1)      oldest = 3: the slot of 1 holds 9 by now
    tuples    | 8 | 9 |   | 3 | 4 | 5 | 6 | 7 |

Ali, Aref, Kamel: Multi-way Joins for Sensor-Network Databases, 2005, section 3.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from skerry.errors import KernelError, LimitError
from skerry.kernels._jit import kernel
from skerry.model.arrays import Int64s

__all__ = ["Answers", "Arrivals", "GatherTable"]


_KEY, _TIME, _SENSOR, _LINK = 0, 1, 2, 3
_OLDEST, _NEXT, _STAMP = 0, 1, 2
_GIVEN, _WRITTEN = 0, 1
_MOST_MEMBERS = 2**31 - 1
"""As many as the offsets of a list column can count."""


class Arrivals(NamedTuple):
    """Tuples, in the order in which they are to be taken."""

    keys: Int64s
    times: Int64s
    sensors: Int64s
    """Each tuple's sensor, by its number."""


@dataclass(frozen=True)
class Answers:
    """Answer i has the members ``offsets[i]`` to ``offsets[i + 1]``; the first is the tuple whose answer it is."""

    keys: Int64s
    arities: Int64s
    offsets: Int64s
    sensors: Int64s
    times: Int64s

    @property
    def count(self) -> int:
        """How many answers there are."""
        return int(self.keys.size)


_Due = tuple[Int64s, Int64s]
"""Answers to be given: the numbers of the tuples, and of the arrivals after which they are to be given."""


# Kernels take plain tuples: the machine code kept on disk must not name a class that may be gone by then.
class _Table(NamedTuple):
    heads: Int64s
    tuples: Int64s
    skips: Int64s
    """By slot: the next tuple of the chain that has another key or sensor."""
    orders: Int64s
    marks: Int64s
    """By sensor: the stamp of the last answer that counted it."""
    bounds: Int64s
    """The oldest number that is live, the next to be given, and the last stamp."""


class _Output(NamedTuple):
    keys: Int64s
    arities: Int64s
    offsets: Int64s
    sensors: Int64s
    times: Int64s
    counts: Int64s
    """How many answers are given, and how many members are written."""


class GatherTable:
    """The live tuples of all sensors, by key. A tuple is live for ``span_us`` after its time, both ends in.

    ``block`` is how many tuples are entered before they are answered: enough to be quick, few enough to stay
    in the cache.

    >>> table = GatherTable(span_us=10)
    >>> table.know_sensors(np.array([0, 1]))
    >>> found = table.answer_in_order(Arrivals(np.array([7, 7]), np.array([1, 4]), np.array([0, 1])), min_arity=2)
    >>> found.arities.tolist(), found.times.tolist()
    ([2], [4, 1])
    """

    def __init__(self, span_us: int, block: int = 4096) -> None:
        self._span_us, self._block = span_us, block
        self._least = 1 << block.bit_length()
        none = np.zeros(0, np.int64)
        self._table = _Table(*_room(self._least), none, none, np.zeros(3, np.int64))

    @property
    def count(self) -> int:
        """How many tuples it holds."""
        return int(self._table.bounds[_NEXT] - self._table.bounds[_OLDEST])

    @property
    def capacity(self) -> int:
        """How many tuples it has room for."""
        return int(self._table.tuples.shape[0])

    def know_sensors(self, orders: Int64s) -> None:
        """Learn of each sensor, by its number, where it stands in the order of sensors."""
        if orders.size < self._table.orders.size:
            raise KernelError("sensors cannot become fewer, got", orders.size, "for", self._table.orders.size)
        marks = np.zeros(orders.size, np.int64)
        marks[: self._table.marks.size] = self._table.marks
        self._table = self._table._replace(orders=orders, marks=marks)

    def answer_in_order(self, arrivals: Arrivals, *, min_arity: int) -> Answers:
        """Answer tuples that come in order of (time, sensor, arrival), none before those it holds.

        Each has an answer if ``min_arity`` sensors take part, its own counted. What none of them reaches
        any more is forgotten.
        """
        size = self._check(arrivals)
        output = _output(size, 2 * size + self._block)
        for start in range(0, size, self._block):
            block = Arrivals(*(column[start : start + self._block] for column in arrivals))
            _forget(self._table.tuples, self._table.bounds, block.times[0] - self._span_us)
            self._make_room(block.keys.size)
            numbers = np.arange(block.keys.size) + self._table.bounds[_NEXT]
            held = self._table.heads, self._table.tuples, self._table.skips
            _append(*held, self._table.bounds, *block)
            output = self._give((numbers, numbers), min_arity, output)
        return _answers(output)

    def answer_on_arrival(self, arrivals: Arrivals, *, min_arity: int) -> Answers:
        """Answer tuples that come in any order, and answer those anew that one of them is a member of."""
        size, row = self._check(arrivals), 0
        output, due = _output(size, 2 * size + self._block), _room_for_due(self._block)
        while row < size:
            self._make_room(self._block)
            row, count = self._arrive(arrivals, row, due)
            output = self._give((due[0][:count], due[1][:count]), min_arity, output)
            if not count:
                due = _room_for_due(2 * due[0].size)
        return _answers(output)

    def remember(self, arrivals: Arrivals) -> None:
        """Take tuples in that come in any order, without an answer."""
        self._make_room(self._check(arrivals))
        _remember(*self._chains, *arrivals)

    def forget(self, edge_us: int) -> None:
        """Let go of the tuples before ``edge_us``, as far as none that stays arrived before them."""
        _forget(self._table.tuples, self._table.bounds, edge_us)
        if self.capacity > self._least and self.count < self.capacity // 8:
            self._rebuild(max(self.capacity // 4, self._least))

    @property
    def _chains(self) -> tuple[Int64s, Int64s, Int64s, Int64s, Int64s]:
        return self._table.heads, self._table.tuples, self._table.skips, self._table.orders, self._table.bounds

    def _check(self, arrivals: Arrivals) -> int:
        """Refuse columns of different lengths and unknown sensors; how many tuples there are."""
        sizes = [column.size for column in arrivals]
        if len(set(sizes)) > 1:
            raise KernelError("keys, times and sensors differ in length:", *sizes)
        if sizes[0] and not 0 <= arrivals.sensors.min() <= arrivals.sensors.max() < self._table.orders.size:
            raise KernelError("sensors are numbered from 0 to", self._table.orders.size - 1)
        return int(sizes[0])

    def _arrive(self, arrivals: Arrivals, start: int, due: _Due) -> tuple[int, int]:
        """Enter a block of tuples, or fewer; where to go on, and how many answers are due."""
        stop = min(start + self._block, int(arrivals.keys.size))
        row, count = _arrive(*self._chains, tuple(arrivals), self._span_us, start, stop, due)
        return int(row), int(count)

    def _give(self, due: _Due, min_arity: int, output: _Output) -> _Output:
        held = self._table.tuples, self._table.skips, self._table.marks, self._table.bounds
        index = _give(*held, due, self._span_us, min_arity, 0, tuple(output))
        while index < due[0].size:
            output = _grow(output)
            index = _give(*held, due, self._span_us, min_arity, index, tuple(output))
        return output

    def _make_room(self, more: int) -> None:
        capacity = self.capacity
        while self.count + more > capacity:
            capacity *= 2
        if capacity > self.capacity:
            self._rebuild(capacity)

    def _rebuild(self, capacity: int) -> None:
        old = self._table
        slots = np.arange(old.bounds[_OLDEST], old.bounds[_NEXT]) & (old.tuples.shape[0] - 1)
        live = [old.tuples[slots, column] for column in (_KEY, _TIME, _SENSOR)]
        self._table = _Table(*_room(capacity), old.orders, old.marks, np.array([0, 0, old.bounds[_STAMP]]))
        _remember(*self._chains, *live)


def _room(capacity: int) -> tuple[Int64s, Int64s, Int64s]:
    return np.full(2 * capacity, -1, np.int64), np.empty((capacity, 4), np.int64), np.empty(capacity, np.int64)


def _room_for_due(count: int) -> _Due:
    return np.empty(count, np.int64), np.empty(count, np.int64)


def _output(answers: int, members: int) -> _Output:
    heads = np.empty(answers, np.int64), np.empty(answers, np.int64), np.zeros(answers + 1, np.int64)
    return _Output(*heads, np.empty(members, np.int64), np.empty(members, np.int64), np.zeros(2, np.int64))


def _grow(output: _Output) -> _Output:
    """The same with twice the room where it ran out."""
    answers, members = output.keys.size, output.sensors.size
    if output.counts[_GIVEN] == answers:
        answers *= 2
    elif members < _MOST_MEMBERS:
        members = min(2 * members, _MOST_MEMBERS)
    else:
        raise LimitError("more than", _MOST_MEMBERS, "members would be gathered at once")
    grown = _output(answers, members)
    for old, new in zip(output, grown, strict=True):
        new[: old.size] = old
    return grown


def _answers(output: _Output) -> Answers:
    given, written = output.counts.tolist()
    heads = output.keys[:given], output.arities[:given], output.offsets[: given + 1]
    return Answers(*heads, output.sensors[:written], output.times[:written])


@kernel
def _bucket(key, count):
    mixed = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64((mixed ^ (mixed >> np.uint64(32))) & np.uint64(count - 1))


@kernel
def _append(heads, tuples, skips, bounds, keys, times, sensors):
    """Enter tuples that come after all that are held: at the heads of their chains."""
    oldest, first, mask = bounds[_OLDEST], bounds[_NEXT], tuples.shape[0] - 1
    for row in range(keys.size):
        slot, bucket = (first + row) & mask, _bucket(keys[row], heads.size)
        head = heads[bucket]
        tuples[slot, _KEY], tuples[slot, _TIME] = keys[row], times[row]
        tuples[slot, _SENSOR], tuples[slot, _LINK] = sensors[row], head
        skips[slot] = skips[head & mask] if head >= oldest and _same(tuples, slot, head & mask) else head
        heads[bucket] = first + row
    bounds[_NEXT] = first + keys.size


@kernel
def _same(tuples, slot, other):
    """Whether two tuples have one key and one sensor."""
    return tuples[slot, _KEY] == tuples[other, _KEY] and tuples[slot, _SENSOR] == tuples[other, _SENSOR]


@kernel
def _remember(heads, tuples, skips, orders, bounds, keys, times, sensors):
    for row in range(keys.size):
        _insert(heads, tuples, skips, orders, bounds, keys[row], times[row], sensors[row])


@kernel
def _insert(heads, tuples, skips, orders, bounds, key, time, sensor):
    """Enter a tuple where it belongs in its chain."""
    number, mask, bucket = bounds[_NEXT], tuples.shape[0] - 1, _bucket(key, heads.size)
    run, newer, older = -1, -1, heads[bucket]
    while older >= bounds[_OLDEST] and _follows(tuples, orders, older & mask, time, sensor):
        if newer < 0 or not _same(tuples, newer & mask, older & mask):
            run = older
        newer, older = older, tuples[older & mask, _LINK]
    slot = number & mask
    tuples[slot, _KEY], tuples[slot, _TIME], tuples[slot, _SENSOR], tuples[slot, _LINK] = key, time, sensor, older
    held = older >= bounds[_OLDEST] and _same(tuples, slot, older & mask)
    skips[slot] = skips[older & mask] if held else older
    if newer < 0:
        heads[bucket] = number
    else:
        tuples[newer & mask, _LINK] = number
        if not _same(tuples, slot, newer & mask):
            _stop_at(tuples, skips, run, number)
    bounds[_NEXT] = number + 1


@kernel
def _stop_at(tuples, skips, run, number):
    """Let the tuples of a run, which leads to a new tuple, skip no further than that."""
    mask = tuples.shape[0] - 1
    while run != number:
        skips[run & mask] = number
        run = tuples[run & mask, _LINK]


@kernel
def _follows(tuples, orders, slot, time, sensor):
    """Whether a tuple that is held comes after an arrival in order of time and sensor."""
    if tuples[slot, _TIME] != time:
        return tuples[slot, _TIME] > time
    return orders[tuples[slot, _SENSOR]] > orders[sensor]


@kernel
def _arrive(heads, tuples, skips, orders, bounds, arrivals, span_us, start, stop, due):
    """Enter tuples and list the answers due; where to go on, and how many are due."""
    keys, times, sensors = arrivals
    count = 0
    for row in range(start, stop):
        more = _list_due(heads, tuples, orders, bounds, keys[row], times[row], sensors[row], span_us, due, count)
        if more < 0:
            return row, count
        _insert(heads, tuples, skips, orders, bounds, keys[row], times[row], sensors[row])
        count = more
    return stop, count


@kernel
def _list_due(heads, tuples, orders, bounds, key, time, sensor, span_us, due, count):
    """An arrival, and the tuples that it becomes a member of; how many are due then, or -1 if there is no room."""
    answered, arrived = due
    number, mask = bounds[_NEXT], tuples.shape[0] - 1
    if count == answered.size:
        return -1
    answered[count], arrived[count] = number, number
    count += 1
    other = heads[_bucket(key, heads.size)]
    while other >= bounds[_OLDEST] and _follows(tuples, orders, other & mask, time, sensor):
        slot = other & mask
        joins = tuples[slot, _KEY] == key and tuples[slot, _SENSOR] != sensor
        if joins and tuples[slot, _TIME] - span_us <= time:
            if count == answered.size:
                return -1
            answered[count], arrived[count] = other, number
            count += 1
        other = tuples[slot, _LINK]
    return count


@kernel
def _give(tuples, skips, marks, bounds, due, span_us, min_arity, start, output):
    """Write answers from ``start`` on; the index of the first for which there was no room."""
    answered, arrived = due
    keys, arities, offsets, sensors, times, counts = output
    oldest, mask = bounds[_OLDEST], tuples.shape[0] - 1
    given, written = counts[_GIVEN], counts[_WRITTEN]
    for index in range(start, answered.size):
        slot = answered[index] & mask
        key, time, sensor = tuples[slot, _KEY], tuples[slot, _TIME], tuples[slot, _SENSOR]
        bounds[_STAMP] += 1
        stamp, arity, last = bounds[_STAMP], 1, written + 1
        if given == keys.size or written == sensors.size:
            return index
        sensors[written], times[written] = sensor, time
        number = tuples[slot, _LINK]
        while number >= oldest:
            slot = number & mask
            if tuples[slot, _TIME] < time - span_us:
                break
            other = tuples[slot, _SENSOR]
            if tuples[slot, _KEY] == key and other == sensor:
                number = skips[slot]
                continue
            if tuples[slot, _KEY] == key and number <= arrived[index]:
                if last == sensors.size:
                    return index
                sensors[last], times[last] = other, tuples[slot, _TIME]
                last += 1
                if marks[other] != stamp:
                    marks[other] = stamp
                    arity += 1
            number = tuples[slot, _LINK]
        if arity >= min_arity:
            written = last
            keys[given], arities[given], offsets[given + 1] = key, arity, written
            given += 1
            counts[_GIVEN], counts[_WRITTEN] = given, written
    return answered.size


@kernel
def _forget(tuples, bounds, edge):
    mask = tuples.shape[0] - 1
    while bounds[_OLDEST] < bounds[_NEXT] and tuples[bounds[_OLDEST] & mask, _TIME] < edge:
        bounds[_OLDEST] += 1
