"""Derives what follows from facts in files, in rounds over DataFrames."""

from collections.abc import Callable, Iterable, Sequence

from skerry.deduce.change import Tick
from skerry.deduce.values import Row, row_key
from skerry.plan.program import Checked
from skerry.spark.rules.semi_naive import compute_model
from skerry.spark.rules.supported import find_obstacle, infer_from_facts, schema_of
from skerry.spark.session import session

__all__ = ["derive", "find_run_obstacle"]


def find_run_obstacle(checked: Checked, ticks: Sequence[Tick]) -> str | None:
    """Why what ticks make of a program cannot be found over DataFrames; None if it can."""
    incremental = next((output for output in checked.outputs if output.mode != "final"), None)
    if incremental is not None and len(ticks) > 1:
        return f"{incremental.predicate!r} is told tick by tick"
    return find_obstacle(infer_from_facts(checked, _facts(checked, ticks)))


def derive(
    checked: Checked,
    ticks: Sequence[Tick],
    unit: int,
    master: str,
    watch: Callable[[str, int, int], None] | None = None,
) -> dict[str, list[Row]]:
    """What holds of each output at the end."""
    facts = _facts(checked, ticks)
    known = infer_from_facts(checked, facts)
    spark = session(master)
    frames = {name: spark.createDataFrame(rows, schema_of(known, name)) for name, rows in facts.items()}
    found = compute_model(spark, known, frames, unit, watch)
    return {output.predicate: [tuple(row) for row in found[output.predicate].collect()] for output in checked.outputs}


def _facts(checked: Checked, ticks: Iterable[Tick]) -> dict[str, list[Row]]:
    """The facts that are left when all ticks have been."""
    held: dict[str, dict[object, Row]] = {name: {} for name, each in checked.predicates.items() if each.base}
    for tick in ticks:
        for name, rows in tick.deletes.items():
            for row in rows:
                held[name].pop(row_key(row), None)
        for name, rows in tick.inserts.items():
            held[name].update((row_key(row), row) for row in rows)
    return {name: list(rows.values()) for name, rows in held.items()}
