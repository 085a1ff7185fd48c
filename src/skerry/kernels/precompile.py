"""Compile kernels ahead of use, so that Spark's workers find the machine code on disk."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Thread

import numpy as np

from skerry.kernels.folds.deviation import deviations, squares
from skerry.kernels.folds.exact import add_totals, add_values, as_doubles
from skerry.kernels.folds.fold import greatest, least
from skerry.kernels.folds.group import group
from skerry.kernels.folds.lateness import late_in_order
from skerry.kernels.folds.slices import slice_numbers
from skerry.kernels.hash import hash_bytes, hash_integers
from skerry.kernels.intern import Integers, Texts
from skerry.kernels.joins.amjoin import absences
from skerry.kernels.joins.chains import empty_chains, entries, insert_all, swept
from skerry.kernels.joins.combinations import combine
from skerry.kernels.joins.gather import Arrivals, Occurrences
from skerry.kernels.joins.lives import Windows, lives
from skerry.kernels.joins.mjoin import Probing, mjoin
from skerry.kernels.joins.outer import climb_levels, probe_tables, swept_occurrences, walk_occurrences
from skerry.kernels.joins.snjoin import OccurrenceTable, Tuples
from skerry.kernels.joins.tree import Tree, climb
from skerry.kernels.order import in_order, merged
from skerry.kernels.rules.checked_arithmetic import exact
from skerry.kernels.rules.plan_interpreter import Machine
from skerry.kernels.rules.postings import Postings
from skerry.kernels.rules.row_set import RowSet
from skerry.kernels.rules.settle_stages import settle

__all__ = ["KINDS", "warm", "warming"]


def warm(kinds: Iterable[str] | None = None) -> None:
    """Call every kernel of some kinds, or of all, once with each kind of array it meets.

    Costs seconds a kind the first time, then nothing.
    """
    for kind in KINDS if kinds is None else kinds:
        KINDS[kind]()


@contextmanager
def warming(kinds: Iterable[str], others: Iterable[Callable[[], None]] = ()) -> Iterator[None]:
    """Warm kernels beside what is done meanwhile; ``others`` call those that rooms above know how to call."""

    def work() -> None:
        warm(kinds)
        for call in others:
            call()

    beside = Thread(target=work)
    beside.start()
    try:
        yield
    finally:
        beside.join()


def _warm_folds() -> None:
    """Those behind aggregates, and what every reading passes."""
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
    late_in_order(numbers, 0, 0)
    slice_numbers(numbers, 1)


def _warm_gather() -> None:
    """Those behind GATHER."""
    numbers = np.zeros(2, np.int64)
    Integers().number(np.arange(100))
    Texts().number(numbers, np.zeros(1, np.uint8))
    in_order(np.array([1, 0]), numbers)
    table = Occurrences(0)
    table.know_sensors(numbers)
    arrivals = Arrivals(numbers, numbers, numbers)
    table.remember(arrivals)
    table.answer_on_arrival(arrivals, min_arity=1)
    found = table.answer_in_order(arrivals, min_arity=1)
    table.forget(1)
    combine(found.offsets, found.sensors, 1, 9)


def _warm_snjoin() -> None:
    """Those behind SNJoin, with so many tuples that its table has to grow."""
    _warm_lives()
    rows = np.arange(1000)
    tuples = Tuples(np.zeros(1000, np.int32), rows, rows, rows, rows)
    table = OccurrenceTable(1, np.zeros(1, np.int64))
    table.load(tuples)
    table.join(tuples, 1000)
    table.sweep(1000)


def _warm_rivals() -> None:
    """Those behind the techniques that SNJoin is measured against; a table gets crowded, and is swept."""
    _warm_lives()
    rows = np.arange(100)
    tuples = entries(np.zeros(100, np.int32), rows, rows, rows, rows, 1)
    chains = swept(insert_all(empty_chains(1), tuples), 50)
    mjoin(Probing.of(1, absences(chains, 1)), tuples, 100)
    climb(Tree.of(1, 1), tuples, 100, 1)
    for way in (probe_tables, climb_levels, walk_occurrences):
        chains, _ = way(empty_chains(1), tuples, 100)
    swept_occurrences(chains, 50)


def _warm_lives() -> None:
    """What every complete join needs."""
    none = np.zeros(1, np.int64)
    lives(none, np.ones(1, np.bool_), np.array([[0, 1]]), Windows(none, none, 0, 1), 0)
    merged(none, np.ones(1, np.int64))


def _warm_rules() -> None:
    """Those behind rules; their tables have to grow."""
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
    nothing, none = np.empty((0, 2), np.int64), np.empty(0, np.int64)
    settle(Machine.idle(nothing, nothing, none, nothing))


KINDS: Mapping[str, Callable[[], None]] = {
    "folds": _warm_folds,
    "gather": _warm_gather,
    "snjoin": _warm_snjoin,
    "rivals": _warm_rivals,
    "rules": _warm_rules,
}
