"""What the simulation of SNJoin* by counts knows, changes and obeys, as arrays and numbers.

Kernels take plain tuples, since the machine code kept on disk must not name a class that may be gone by then. So the
fields have constants beside them, which say their indexes.
"""

from typing import NamedTuple

import numpy as np

from skerry.kernels.network.occurrence_lists import OccurrenceLists
from skerry.model.arrays import Bools, Float64s, Int64s

__all__ = ["TOTAL_NAMES", "WIDTH_EVERY", "Rules", "Run", "World", "make_room", "start_run"]


class World(NamedTuple):
    """Tuples, in order of (time, sensor), and clusters; of these arrays only ``stored`` and the like change."""

    times: Int64s
    sensors: Int64s
    values: Int64s
    """As small numbers."""
    heads: Int64s
    """Per tuple, the number of its sensor's head."""
    lowers: Int64s
    """Per tuple, the first that is within the window before it."""
    stored: Int64s
    receipts: Int64s
    """(time, tuple) in the order in which tuples reach their heads."""
    following: Int64s
    """Per tuple, the next in the queue of its head."""
    head_lists: OccurrenceLists
    sensor_lists: OccurrenceLists
    lookups: Int64s
    """Per head, into how many tables a probe looks."""
    cells: Int64s
    """Per tuple, the row of the relevance matrix."""
    starts: Int64s
    members: Int64s
    """The sensors of head h are ``members[starts[h]:starts[h + 1]]``."""
    found: Int64s
    """Per tuple, how many its answer has; -1 if none came."""
    is_sent: Bools
    """Per tuple, whether it takes a message to its head."""


TIMES, SENSORS, VALUES, HEADS, LOWERS, STORED, RECEIPTS, FOLLOWING = range(8)
HEAD_LISTS, SENSOR_LISTS, LOOKUPS, CELLS, STARTS, MEMBERS, FOUND, IS_SENT = range(8, 16)


class Run(NamedTuple):
    """What changes."""

    heap: Int64s
    bounds: Int64s
    flight: Int64s
    """Probes on their way, by the columns below; then the heads of the sequence, then how much each has found."""
    servers: Int64s
    relevance: Float64s
    """By head that asks, cell and head that is asked; empty if all are to be probed."""
    order: Int64s
    answered: Int64s
    """Per head, how many tuples it has found, and in how many probes."""
    counters: Int64s
    sums: Int64s
    """By ``TOTAL_NAMES``."""
    stack: Int64s
    """Rows of ``flight`` that are free."""
    widths: Int64s


HEAP, BOUNDS, FLIGHT, SERVERS, RELEVANCE, ORDER, ANSWERED, COUNTERS, SUMS, STACK, WIDTHS = range(11)
TUPLE, POSITION, LENGTH, NEXT, FLIGHT_COLUMNS = range(5)
BUSY, FIRST_PROBE, LAST_PROBE, FIRST_TUPLE, LAST_TUPLE, UNBEGUN, WAITING, _SERVER_COLUMNS = range(8)
RECEIPT, SETTLED, FREE, BEGUN, DRAWS, ANNOUNCED, _COUNTER_COUNT = range(7)
UNQUEUED = -1
WIDTH_EVERY = 64
"""Of every so many tuples the width of one's answer is counted: that looks at each member of each head."""

TOTAL_NAMES = (
    "arrived",
    "dropped",
    "refused",
    "answers",
    "joined",
    "content",
    "delay_us",
    "probes",
    "messages",
    "bytes",
    "width",
    "widths",
    "operations",
)


class Rules(NamedTuple):
    """What holds all the time."""

    settle_us: int
    buffer_size: int
    operation_us: float
    drawing: tuple[int, float, bool]
    """The seed of draws, the least entry of the relevance matrix, whether entries are normalised."""
    least_delay_us: int
    most_delay_us: int
    seed: int
    gives_feedback: bool
    warm_up_us: int
    end_us: int
    announce_us: int
    tuple_bytes: int
    probe_bytes: int
    head_bytes: int
    member_bytes: int
    note_bytes: int
    weight_bytes: int


SETTLE_US, BUFFER_SIZE, OPERATION_US, DRAWING, LEAST_DELAY_US, MOST_DELAY_US, SEED, GIVES_FEEDBACK = range(8)
WARM_UP_US, END_US, ANNOUNCE_US = range(8, 11)
TUPLE_BYTES, PROBE_BYTES, HEAD_BYTES, MEMBER_BYTES, NOTE_BYTES, WEIGHT_BYTES = range(11, 17)

_FEWEST = 1024


def start_run(tuple_count: int, head_count: int, relevance: Float64s) -> Run:
    """Nothing has happened yet."""
    servers, counters = np.full((head_count, _SERVER_COLUMNS), UNQUEUED), np.zeros(_COUNTER_COUNT, np.int64)
    servers[:, [BUSY, UNBEGUN, WAITING]] = 0
    counters[FREE] = _FEWEST
    return Run(
        heap=np.zeros((_FEWEST, 5), np.int64),
        bounds=np.zeros(2, np.int64),
        flight=np.zeros((_FEWEST, FLIGHT_COLUMNS + 2 * head_count), np.int64),
        servers=servers,
        relevance=relevance,
        order=np.arange(head_count),
        answered=np.zeros((head_count, 2), np.int64),
        counters=counters,
        sums=np.zeros(len(TOTAL_NAMES), np.int64),
        stack=np.arange(_FEWEST),
        widths=np.zeros(tuple_count // WIDTH_EVERY + 1, np.int64),
    )


def make_room(run: Run) -> Run:
    """The same with twice the room for events and probes."""
    old, free = run.flight.shape[0], int(run.counters[FREE])
    run.counters[FREE] += old
    return run._replace(
        heap=np.concatenate([run.heap, np.zeros_like(run.heap)]),
        flight=np.concatenate([run.flight, np.zeros_like(run.flight)]),
        stack=np.concatenate([run.stack[:free], np.arange(old, 2 * old), np.zeros(old - free, np.int64)]),
    )
