"""Laws that every operator keeps, for tests of Skerry's own operators and of yours.

An operator is given as a function that makes a fresh one, its input as *steps*: a batch, and the
watermark that follows it. No row may lie behind the watermark of a step before its own. After the
last step time goes to its end. Answers are compared as multisets of rows, to the last bit, but all
NaN are one. Each law raises ``AssertionError`` and says what differs.

>>> from skerry.model.time import seconds
>>> from skerry.operators.derive import Derive
>>> from skerry.model.expression import Expression
>>> def faster():
...     return Derive([("speed", Expression('"speed" + 1', pa.float64()))])
>>> batch = pa.record_batch({"ts": pa.array([0, 1], pa.timestamp("us")), "speed": [20.0, 30.0]})
>>> check_laws(faster, [(batch, seconds(1))], time="ts")
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle
from typing import Any

import pyarrow as pa

from skerry.model.batch import join
from skerry.model.time import END_OF_TIME, START_OF_TIME, Micros
from skerry.operators.operator import Operator, PageChanges, StatePages
from skerry.operators.spread import Spread, spread_rows

__all__ = [
    "Make",
    "Rows",
    "Step",
    "answers",
    "apply_changes",
    "check_laws",
    "incremental_changes_equal_snapshot",
    "one_batch_equals_many",
    "order_within_watermark_does_not_matter",
    "other_buckets_change_nothing",
    "rows_of",
    "snapshot_mid_stream_changes_nothing",
    "state_stays_bounded",
]

Make = Callable[[], Operator]
Step = tuple[pa.RecordBatch, Micros]
Rows = Counter[tuple[str, ...]]

_SLACK_BYTES = 64
"""By how much a page may outgrow that of a fresh operator without being said to hold a row."""


def check_laws(make: Make, steps: Sequence[Step], *, time: str) -> None:
    """Check all laws. ``time`` is the input's column of event time."""
    snapshot_mid_stream_changes_nothing(make, steps)
    incremental_changes_equal_snapshot(make, steps)
    one_batch_equals_many(make, steps)
    order_within_watermark_does_not_matter(make, steps, time=time)
    state_stays_bounded(make, steps)


def snapshot_mid_stream_changes_nothing(make: Make, steps: Sequence[Step]) -> None:
    """An operator may be saved, dropped and restored after each batch and each watermark: each step gives the same."""
    operator, found = make(), list[Rows]()
    for batch, watermark in [*steps, *_end(steps)]:
        rows = rows_of(operator.transition(batch))
        operator = _restore(make, operator.snapshot())
        found.append(rows + rows_of(operator.advance(watermark)))
        operator = _restore(make, operator.snapshot())
    _compare_steps("saved and restored after each step", _answer_steps(make(), [*steps, *_end(steps)]), found)


def incremental_changes_equal_snapshot(make: Make, steps: Sequence[Step]) -> None:
    """What successive ``changes`` add up to is as good as a snapshot, and both as the operator that they were taken of.

    Restored from either, after any step, an operator gives in each step that follows what the one gives that went on.
    So a step that runs again, since the machine broke off, gives again what it gave.
    """
    operator, steps = make(), [*steps, *_end(steps)]
    expected = _answer_steps(make(), steps)
    saved: dict[str, bytes] = {}
    for number, step in enumerate(steps):
        _take(operator, step)
        apply_changes(operator.changes(), saved)
        whole = operator.snapshot()
        message = f"after step {number} the changes add up to pages {sorted(saved)}, the snapshot has {sorted(whole)}"
        assert saved.keys() == whole.keys(), message
        for kind, pages in (("a snapshot", whole), ("the changes", saved)):
            found = _answer_steps(_restore(make, pages), steps[number + 1 :])
            _compare_steps(f"restored from {kind} after step {number}", expected[number + 1 :], found, number + 1)


def other_buckets_change_nothing(
    make: Make, steps: Sequence[Step], *, keys: Sequence[str], spread: Spread | None = None
) -> None:
    """State may be spread over another number of buckets after each step: two, three, one, and so on.

    ``keys`` are the columns of the input by which rows are spread; ``spread`` names them as the operator's streams do.
    """
    names = spread.keys if spread else (tuple(keys),)
    operators, found = [make()], Counter[tuple[str, ...]]()
    for (batch, watermark), count in zip([*steps, *_end(steps)], cycle((2, 3, 1)), strict=False):
        states = make().redistribute([operator.snapshot() for operator in operators], Spread(names, count))
        assert states is not None, "the operator does not say how its state is spread"
        operators = [_restore(make, pages) for pages in states]
        for operator, rows in zip(operators, spread_rows(batch, keys, count), strict=True):
            found += _take(operator, (rows, watermark))
    _compare("spread over other buckets after each step", answers(make(), steps), found)


def one_batch_equals_many(make: Make, steps: Sequence[Step]) -> None:
    """All rows at once, the batches as given, and row by row: the answers are the same."""
    if not steps:
        return
    given = answers(make(), steps)
    whole = join([batch for batch, _ in steps], steps[0][0].schema)
    _compare("all in one batch", given, answers(make(), [(whole, START_OF_TIME)]))
    rows = [(batch.slice(row, 1), START_OF_TIME) for batch, _ in steps for row in range(batch.num_rows)]
    _compare("row by row", given, answers(make(), rows))
    halved = [half for batch, watermark in steps for half in _halves(batch, watermark)]
    _compare("each batch in two", given, answers(make(), halved))


def order_within_watermark_does_not_matter(make: Make, steps: Sequence[Step], *, time: str, seed: int = 0) -> None:
    """Rows may come in any order in which none is behind the watermark."""
    if not steps:
        return
    shuffled = _shuffle(steps, time, random.Random(seed))
    _compare(f"in another order (seed {seed})", answers(make(), steps), answers(make(), shuffled))


def state_stays_bounded(make: Make, steps: Sequence[Step]) -> None:
    """At the end of time no row is left in the state, whether saved whole or by changes."""
    operator, fresh = make(), make().snapshot()
    saved: dict[str, bytes] = {}
    for step in [*steps, *_end(steps)]:
        _take(operator, step)
        apply_changes(operator.changes(), saved)
    for kind, pages in (("snapshot", operator.snapshot()), ("saved changes", saved)):
        assert pages.keys() <= fresh.keys(), f"at the end of time the {kind} still has {sorted(pages.keys() - fresh)}"
        large = [name for name, blob in pages.items() if len(blob) > len(fresh[name]) + _SLACK_BYTES]
        assert not large, f"at the end of time the {kind} still has {len(pages[large[0]])} bytes in page {large[0]!r}"


def answers(operator: Operator, steps: Iterable[Step]) -> Rows:
    """All that an operator gives for the steps, and for the end of time after them."""
    found: Rows = Counter()
    for step in steps:
        found += _take(operator, step)
    return found + rows_of(operator.advance(END_OF_TIME))


def rows_of(batch: pa.RecordBatch) -> Rows:
    """A batch as a multiset of rows, each value spelled out."""
    columns = [_spell(column) for column in batch.columns]
    return Counter(zip(*columns, strict=True)) if columns else Counter({(): batch.num_rows})


def apply_changes(changes: PageChanges, saved: dict[str, bytes]) -> None:
    """Write into saved pages what a runtime would."""
    saved.update(changes.put)
    for name in changes.drop:
        del saved[name]


def _answer_steps(operator: Operator, steps: Iterable[Step]) -> list[Rows]:
    return [_take(operator, step) for step in steps]


def _take(operator: Operator, step: Step) -> Rows:
    batch, watermark = step
    return rows_of(operator.transition(batch)) + rows_of(operator.advance(watermark))


def _restore(make: Make, pages: StatePages) -> Operator:
    operator = make()
    operator.restore(dict(pages))
    return operator


def _spell(column: "pa.Array[Any]") -> list[str]:
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.int64())
    return [repr(value) for value in column.to_pylist()]


def _end(steps: Sequence[Step]) -> list[Step]:
    return [(steps[0][0].slice(0, 0), END_OF_TIME)] if steps else []


def _halves(batch: pa.RecordBatch, watermark: Micros) -> list[Step]:
    middle = batch.num_rows // 2
    return [(batch.slice(0, middle), START_OF_TIME), (batch.slice(middle), watermark)]


def _shuffle(steps: Sequence[Step], time: str, dice: random.Random) -> list[Step]:
    """Every row in a step of its own choice, as long as the watermark before it allows."""
    rows: list[list[pa.RecordBatch]] = [[] for _ in steps]
    for batch, _ in steps:
        for row, moment in enumerate(batch.column(time).cast(pa.int64()).to_numpy().tolist()):
            last = len([watermark for _, watermark in steps[:-1] if watermark <= moment])
            rows[dice.randint(0, last)].append(batch.slice(row, 1))
    for chosen in rows:
        dice.shuffle(chosen)
    schema = steps[0][0].schema
    return [(join(chosen, schema), watermark) for chosen, (_, watermark) in zip(rows, steps, strict=True)]


def _compare(how: str, expected: Rows, found: Rows) -> None:
    missing, extra = list((expected - found).elements()), list((found - expected).elements())
    message = (
        f"{how}, the operator gives other answers: {len(missing)} missing {missing[:3]}, {len(extra)} extra {extra[:3]}"
    )
    assert expected == found, message


def _compare_steps(how: str, expected: Sequence[Rows], found: Sequence[Rows], first: int = 0) -> None:
    for number, rows in enumerate(zip(expected, found, strict=True), first):
        _compare(f"{how}, in step {number}", *rows)
