"""Compile kernels ahead of use, so that Spark's workers find the machine code on disk."""

from collections.abc import Callable, Iterable, Mapping

import numpy as np

from skerry.kernels.ahead import mark_ahead
from skerry.kernels.csv_lines import mark_open_lines
from skerry.kernels.folds.deviation import deviations, squares
from skerry.kernels.folds.exact_sums import add_totals, add_values, as_doubles
from skerry.kernels.folds.extremes import greatest, least
from skerry.kernels.folds.group import group
from skerry.kernels.folds.slices import find_slices
from skerry.kernels.hash import hash_bytes, hash_integers
from skerry.kernels.interning import Integers, Texts
from skerry.kernels.joins.amjoin import absences
from skerry.kernels.joins.chained_tables import empty_chains, insert_all, pack_entries, sweep_chains
from skerry.kernels.joins.flatten import flatten_lists
from skerry.kernels.joins.gather import Arrivals, GatherTable
from skerry.kernels.joins.lifetimes import WindowSizes, find_lifetimes
from skerry.kernels.joins.mjoin import Probing, mjoin
from skerry.kernels.joins.snjoin import OccurrenceTable, Tuples
from skerry.kernels.joins.tree import Tree, climb
from skerry.kernels.lateness import mark_late
from skerry.kernels.over import find_extremes, find_range_bounds, order_by_group
from skerry.kernels.rules.checked_arithmetic import exact
from skerry.kernels.rules.ground_order import find_order
from skerry.kernels.rules.plan_interpreter import Machine
from skerry.kernels.rules.postings import Postings
from skerry.kernels.rules.row_set import RowSet
from skerry.kernels.rules.settle_stages import settle
from skerry.kernels.sequences import DONE, TAKE, Comparisons, Program, find_sequences
from skerry.kernels.time_order import order_by_time, order_by_time_and_sensor

__all__ = ["PRECOMPILERS", "precompile"]


def precompile(kinds: Iterable[str] | None = None) -> None:
    """Call every kernel of some kinds, or of all, once with each type of array it meets.

    Costs seconds per kind the first time, then nothing.
    """
    for kind in PRECOMPILERS if kinds is None else kinds:
        PRECOMPILERS[kind]()


def _precompile_folds() -> None:
    """The kernels behind aggregates, and those that every reading passes."""
    numbers, valid = np.zeros(2, np.int64), np.ones(2, np.bool_)
    doubles = np.ones(2, np.float64)
    for codes in (numbers, np.array([0, 2**60])):
        group(codes)
    for values in (numbers, doubles):
        least(values, valid, numbers, 1)
        greatest(values, valid, numbers, 1)
    totals = add_totals(add_values(doubles, valid, numbers, 2), numbers, 1)
    as_doubles(totals)
    squares(doubles)
    deviations(totals, totals, np.ones(1, np.int64), sample=True)
    hash_integers(numbers)
    hash_bytes(np.zeros(2, np.int64), np.zeros(1, np.uint8))
    mark_late(numbers, 0, 0)
    mark_open_lines(np.zeros(2, np.int32), np.zeros(1, np.uint8), ",")
    mark_ahead(numbers, numbers, 0, 0, 0, strict=False)
    find_slices(numbers, valid.astype(np.int64), numbers)


def _precompile_sequences() -> None:
    """The kernel behind MATCH_RECOGNIZE."""
    numbers = np.zeros(1, np.int64)
    program = Program(np.array([TAKE, DONE]), np.zeros(2, np.int64), np.zeros(2, np.int64))
    comparisons = Comparisons(*[numbers[:0]] * 4, *[np.empty((0, 1), np.int64)] * 2)
    bounds = (numbers, numbers, numbers + 1)
    find_sequences(program, numbers + 1, numbers, bounds, comparisons, (1, 5, 9), skips_to_next=False)


def _precompile_gather() -> None:
    """The kernels behind GATHER."""
    numbers = np.zeros(2, np.int64)
    Integers().number(np.arange(100))
    Texts().number(numbers, np.zeros(1, np.uint8))
    order_by_time_and_sensor(np.array([1, 0]), numbers)
    table = GatherTable(0)
    table.know_sensors(numbers)
    arrivals = Arrivals(numbers, numbers, numbers)
    table.remember(arrivals)
    table.answer_on_arrival(arrivals, min_arity=1)
    found = table.answer_in_order(arrivals, min_arity=1)
    table.forget(1)
    flatten_lists(found.offsets, found.sensors, 1, 9)


def _precompile_snjoin() -> None:
    """The kernels behind SNJoin, with so many tuples that its table has to grow."""
    _precompile_lifetimes()
    rows = np.arange(1000)
    tuples = Tuples(np.zeros(1000, np.int32), rows, rows, rows, rows)
    table = OccurrenceTable(1, np.zeros(1, np.int64))
    table.load(tuples)
    table.join(tuples, 1000)
    table.sweep(1000)


def _precompile_other_techniques() -> None:
    """The kernels of the techniques that SNJoin is measured against. A table gets crowded, and is swept."""
    _precompile_lifetimes()
    rows = np.arange(100)
    tuples = pack_entries(np.zeros(100, np.int32), rows, rows, rows, rows, 1)
    chains = sweep_chains(insert_all(empty_chains(1), tuples), 50)
    mjoin(Probing.of(1, absences(chains, 1)), tuples, 100)
    climb(Tree.of(1, 1), tuples, 100, 1)


def _precompile_lifetimes() -> None:
    """The kernels that every complete join needs."""
    none = np.zeros(1, np.int64)
    find_lifetimes(none, np.ones(1, np.bool_), np.array([[0, 1]]), WindowSizes(none, none, 0, 1), 0)
    order_by_time(none, np.ones(1, np.int64))


def _precompile_over() -> None:
    """The kernels behind frames."""
    numbers, ends = np.zeros(2, np.int64), np.array([1, 2])
    order_by_group(numbers, 1)
    for is_end in (False, True):
        find_range_bounds(numbers, numbers, ends, -1, is_end=is_end)
    find_extremes(numbers, np.ones(2, np.bool_), numbers, ends, highest=True)


def _precompile_rules() -> None:
    """The kernels behind rules; their tables have to grow."""
    keys = np.arange(200).reshape(100, 2)
    rows, postings = RowSet(2), Postings(np.zeros(1, np.int64))
    fresh = rows.insert(keys, np.zeros(100, np.int64)).fresh
    postings.link(rows.codes, fresh)
    found = postings.seek(keys[:, :1].copy())
    postings.gather(found, rows.states, 1)
    postings.gather_some(found, rows.states, 1, 1)
    rows.find(keys)
    postings.unlink(np.zeros(1, np.int64))
    rows.remove(np.zeros(1, np.int64))
    exact("+", keys[:, 0].copy(), keys[:, 1].copy())
    find_order(2, np.zeros(1, np.int64), np.ones(1, np.int64))
    nothing, none = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    settle(Machine.idle(nothing, nothing, none, nothing))


PRECOMPILERS: Mapping[str, Callable[[], None]] = {
    "folds": _precompile_folds,
    "gather": _precompile_gather,
    "snjoin": _precompile_snjoin,
    "other techniques": _precompile_other_techniques,
    "over": _precompile_over,
    "sequences": _precompile_sequences,
    "rules": _precompile_rules,
}
