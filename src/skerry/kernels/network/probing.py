"""SNJoin* by counts: the events of all cluster heads, with how many tuples are found but not which.

The same protocol as ``network.snjoin``, which it is tested against, for networks that are too large for messages with
real members in them. State is in arrays, so the loop can stop for more room and go on.

    receipts ──► stored, or dropped ──► settled ──► begun ──┐
                                                            ├─► one job at a time per head ──► shipped ──► next head
                                     probes of other heads ─┘                                     └─► collector ──► note
"""

import numpy as np

from skerry.kernels._jit import kernel
from skerry.kernels.hash import hash_of
from skerry.kernels.network import probing_state as at
from skerry.kernels.network.choose_heads import choose_heads, learn, rank_heads
from skerry.kernels.network.event_heap import pop_event, push_event
from skerry.kernels.network.occurrence_lists import count_stored
from skerry.kernels.network.probing_state import Rules, Run, World, make_room

__all__ = ["simulate"]

_ARRIVED, _DROPPED, _REFUSED, _ANSWERS, _JOINED, _CONTENT, _DELAY = range(7)
_PROBES, _MESSAGES, _BYTES, _WIDTH, _WIDTHS, _OPERATIONS = range(7, 13)
_ARRIVE, _SHIP, _COLLECT, _NOTE = 0, 1, 2, 3
_NEVER = np.int64(2**62)


def simulate(world: World, run: Run, rules: Rules) -> Run:
    """Let everything happen, from the start until the end."""
    plain = *world[: at.HEAD_LISTS], tuple(world.head_lists), tuple(world.sensor_lists), *world[at.LOOKUPS :]
    while not _advance(plain, tuple(run), tuple(rules)):
        run = make_room(run)
    return run


@kernel
def _advance(world, run, rules):
    """Let events happen until the end (True) or until more room is needed (False)."""
    times, receipts, heap, bounds, counters = (
        world[at.TIMES],
        world[at.RECEIPTS],
        run[at.HEAP],
        run[at.BOUNDS],
        run[at.COUNTERS],
    )
    settle_us, end_us, announce_us = rules[at.SETTLE_US], rules[at.END_US], rules[at.ANNOUNCE_US]
    while counters[at.FREE] > 0 and bounds[0] + 4 <= heap.shape[0]:
        receipt = receipts[counters[at.RECEIPT], 0] if counters[at.RECEIPT] < times.size else _NEVER
        settled = times[counters[at.SETTLED]] + settle_us if counters[at.SETTLED] < times.size else _NEVER
        event = heap[0, 0] if bounds[0] else _NEVER
        now = min(receipt, settled, event)
        if now > end_us or now == _NEVER:
            return True
        if announce_us and now >= counters[at.ANNOUNCED] + announce_us:
            _announce(now, world, run, rules)
        if receipt == now:
            _take(now, receipts[counters[at.RECEIPT], 1], world, run, rules)
            counters[at.RECEIPT] += 1
        elif settled == now:
            _settle(now, counters[at.SETTLED], world, run, rules)
            counters[at.SETTLED] += 1
        else:
            kind, head, item = pop_event(heap, bounds)
            _happen(now, kind, head, item, world, run, rules)
    return False


@kernel
def _happen(now, kind, head, item, world, run, rules):
    servers = run[at.SERVERS]
    if kind == _ARRIVE:
        _queue(now, head, item, world, run, rules)
    elif kind == _SHIP:
        _ship(now, head, item, world, run, rules)
        servers[head, at.BUSY] = 0
        _work(now, head, world, run, rules)
    elif kind == _COLLECT:
        _collect(now, item, world, run, rules)
    else:
        _note(item, world, run, rules)


@kernel
def _queue(now, head, item, world, run, rules):
    """A probe has reached a head: it waits, or is refused."""
    flight, servers = run[at.FLIGHT], run[at.SERVERS]
    if servers[head, at.WAITING] == rules[at.BUFFER_SIZE]:
        run[at.SUMS][_REFUSED] += now >= rules[at.WARM_UP_US]
        _land(item, run)
        return
    flight[item, at.NEXT] = at.UNQUEUED
    if servers[head, at.FIRST_PROBE] < 0:
        servers[head, at.FIRST_PROBE] = item
    else:
        flight[servers[head, at.LAST_PROBE], at.NEXT] = item
    servers[head, at.LAST_PROBE] = item
    servers[head, at.WAITING] += 1
    _work(now, head, world, run, rules)


@kernel
def _take(now, row, world, run, rules):
    """A tuple has reached its head: it is stored, or dropped."""
    heads, stored, servers, totals = world[at.HEADS], world[at.STORED], run[at.SERVERS], run[at.SUMS]
    head, counted = heads[row], now >= rules[at.WARM_UP_US]
    totals[_ARRIVED] += counted
    if servers[head, at.UNBEGUN] == rules[at.BUFFER_SIZE]:
        totals[_DROPPED] += counted
    else:
        servers[head, at.UNBEGUN] += 1
        stored[row] = 1
    if world[at.IS_SENT][row]:
        totals[_MESSAGES] += counted
        totals[_BYTES] += counted * rules[at.TUPLE_BYTES]


@kernel
def _settle(now, row, world, run, rules):
    heads, stored, following, servers = world[at.HEADS], world[at.STORED], world[at.FOLLOWING], run[at.SERVERS]
    if not stored[row]:
        return
    head, following[row] = heads[row], at.UNQUEUED
    if servers[head, at.FIRST_TUPLE] < 0:
        servers[head, at.FIRST_TUPLE] = row
    else:
        following[servers[head, at.LAST_TUPLE]] = row
    servers[head, at.LAST_TUPLE] = row
    _work(now, head, world, run, rules)


@kernel
def _work(now, head, world, run, rules):
    """Do a head's next job, if there is one and none is being done: probes of others come first."""
    following, flight, servers = world[at.FOLLOWING], run[at.FLIGHT], run[at.SERVERS]
    if servers[head, at.BUSY]:
        return
    if servers[head, at.FIRST_PROBE] >= 0:
        item = servers[head, at.FIRST_PROBE]
        servers[head, at.FIRST_PROBE] = flight[item, at.NEXT]
        servers[head, at.WAITING] -= 1
        flight[item, at.POSITION] += 1
        run[at.SUMS][_PROBES] += now >= rules[at.WARM_UP_US]
    elif servers[head, at.FIRST_TUPLE] >= 0:
        row = servers[head, at.FIRST_TUPLE]
        servers[head, at.FIRST_TUPLE] = following[row]
        servers[head, at.UNBEGUN] -= 1
        item = _begin(row, head, world, run, rules)
    else:
        return
    servers[head, at.BUSY] = 1
    operations = 1 + world[at.LOOKUPS][head] + _find(head, item, world, run)
    run[at.SUMS][_OPERATIONS] += operations * (now >= rules[at.WARM_UP_US])
    push_event(run[at.HEAP], run[at.BOUNDS], now + np.int64(operations * rules[at.OPERATION_US]), _SHIP, head, item)


@kernel
def _begin(row, head, world, run, rules):
    """Put a tuple into a free flight with the heads it is to visit."""
    flight, counters, stack = run[at.FLIGHT], run[at.COUNTERS], run[at.STACK]
    counters[at.FREE] -= 1
    item = stack[counters[at.FREE]]
    flight[item, at.TUPLE], flight[item, at.POSITION] = row, 0
    flight[item, at.FLIGHT_COLUMNS] = head
    tuple_of = world[at.TIMES][row], world[at.SENSORS][row], world[at.CELLS][row]
    sequence = flight[item, at.FLIGHT_COLUMNS : at.FLIGHT_COLUMNS + world[at.LOOKUPS].size]
    flight[item, at.LENGTH] = choose_heads(tuple_of, sequence, run[at.RELEVANCE], run[at.ORDER], rules[at.DRAWING])
    counters[at.BEGUN] += 1
    return item


@kernel
def _find(head, item, world, run):
    """What this head has for a probe; noted in the probe."""
    sensors, values, lowers, stored = world[at.SENSORS], world[at.VALUES], world[at.LOWERS], world[at.STORED]
    flight, row = run[at.FLIGHT], run[at.FLIGHT][item, at.TUPLE]
    found = count_stored(world[at.HEAD_LISTS], stored, head, values[row], lowers[row], row)
    if flight[item, at.POSITION] == 0:
        found -= count_stored(world[at.SENSOR_LISTS], stored, sensors[row], values[row], lowers[row], row)
    flight[item, at.FLIGHT_COLUMNS + world[at.LOOKUPS].size + flight[item, at.POSITION]] = found
    run[at.ANSWERED][head, 0] += found
    run[at.ANSWERED][head, 1] += 1
    if row % at.WIDTH_EVERY == 0:
        run[at.WIDTHS][row // at.WIDTH_EVERY] += _count_sensors(head, row, world)
    return found


@kernel
def _count_sensors(head, row, world):
    """How many other sensors of a head share a tuple's value."""
    sensors, values, lowers, stored = world[at.SENSORS], world[at.VALUES], world[at.LOWERS], world[at.STORED]
    starts, members = world[at.STARTS], world[at.MEMBERS]
    width = 0
    for here in range(starts[head], starts[head + 1]):
        if members[here] != sensors[row]:
            width += count_stored(world[at.SENSOR_LISTS], stored, members[here], values[row], lowers[row], row) > 0
    return width


@kernel
def _ship(now, head, item, world, run, rules):
    """Send a probe to the next head, or to the collector."""
    flight, totals, size = run[at.FLIGHT], run[at.SUMS], world[at.LOOKUPS].size
    here, length = flight[item, at.POSITION], flight[item, at.LENGTH]
    carried = flight[item, at.FLIGHT_COLUMNS + size : at.FLIGHT_COLUMNS + size + here + 1].sum()
    if now >= rules[at.WARM_UP_US]:
        totals[_MESSAGES] += 1
        totals[_BYTES] += rules[at.PROBE_BYTES] + rules[at.HEAD_BYTES] * length + rules[at.MEMBER_BYTES] * carried
    arrival = now + _draw_delay(run[at.COUNTERS], rules)
    if here + 1 < length:
        push_event(run[at.HEAP], run[at.BOUNDS], arrival, _ARRIVE, flight[item, at.FLIGHT_COLUMNS + here + 1], item)
    else:
        push_event(run[at.HEAP], run[at.BOUNDS], arrival, _COLLECT, head, item)


@kernel
def _draw_delay(counters, rules):
    least_us, most_us, seed = rules[at.LEAST_DELAY_US], rules[at.MOST_DELAY_US], rules[at.SEED]
    counters[at.DRAWS] += 1
    unit = np.float64(hash_of(np.int64(seed * 1_000_003 + counters[at.DRAWS])) >> np.uint64(11)) / 9007199254740992.0
    return least_us + np.int64(unit * (most_us - least_us))


@kernel
def _collect(now, item, world, run, rules):
    """An answer has come; if heads learn, a note goes back."""
    flight, totals, size = run[at.FLIGHT], run[at.SUMS], world[at.LOOKUPS].size
    row, length = flight[item, at.TUPLE], flight[item, at.LENGTH]
    found = flight[item, at.FLIGHT_COLUMNS + size : at.FLIGHT_COLUMNS + size + length].sum()
    world[at.FOUND][row] = found
    if now >= rules[at.WARM_UP_US]:
        totals[_ANSWERS] += 1
        totals[_JOINED] += found > 0
        totals[_CONTENT] += found
        totals[_DELAY] += now - world[at.TIMES][row]
        if row % at.WIDTH_EVERY == 0:
            totals[_WIDTH] += 1 + run[at.WIDTHS][row // at.WIDTH_EVERY]
            totals[_WIDTHS] += 1
    if rules[at.GIVES_FEEDBACK]:
        if now >= rules[at.WARM_UP_US]:
            totals[_MESSAGES] += 1
            totals[_BYTES] += rules[at.NOTE_BYTES] + rules[at.WEIGHT_BYTES] * (length - 1)
        push_event(
            run[at.HEAP],
            run[at.BOUNDS],
            now + _draw_delay(run[at.COUNTERS], rules),
            _NOTE,
            flight[item, at.FLIGHT_COLUMNS],
            item,
        )
    else:
        _land(item, run)


@kernel
def _note(item, world, run, rules):
    """The head that began learns; the flight is over."""
    flight, size = run[at.FLIGHT], world[at.LOOKUPS].size
    end = at.FLIGHT_COLUMNS + flight[item, at.LENGTH]
    sequence, found = flight[item, at.FLIGHT_COLUMNS : end], flight[item, at.FLIGHT_COLUMNS + size : end + size]
    learn(run[at.RELEVANCE], world[at.CELLS][flight[item, at.TUPLE]], sequence, found, rules[at.DRAWING])
    _land(item, run)


@kernel
def _land(item, run):
    counters, stack = run[at.COUNTERS], run[at.STACK]
    stack[counters[at.FREE]] = item
    counters[at.FREE] += 1


@kernel
def _announce(now, world, run, rules):
    """Every head says how selective its members are on average; all rank the heads by that."""
    run[at.COUNTERS][at.ANNOUNCED] = now
    rank_heads(run[at.ANSWERED], world[at.STARTS], run[at.ORDER])
    if now >= rules[at.WARM_UP_US]:
        run[at.SUMS][_MESSAGES] += run[at.ORDER].size
        run[at.SUMS][_BYTES] += run[at.ORDER].size * rules[at.NOTE_BYTES]
